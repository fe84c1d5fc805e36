#include "ballast/runtime/networks/sd/spatial_transformer.hpp"

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::networks::sd {
namespace {

constexpr double kGroupNormEps = 1e-6;
constexpr nn::Conv2d::Shape kPointwise{.stride = 1, .padding = 0};

}  // namespace

Attention::Attention(const nn::Binder& binder, std::string_view name, std::int64_t heads)
    : path_(binder.path(name)),
      heads_(heads),
      q_(binder.below(name), "to_q"),
      k_(binder.below(name), "to_k"),
      v_(binder.below(name), "to_v"),
      out_(binder.below(name), "to_out.0") {}

at::Tensor Attention::split(const at::Tensor& x) const {
    return x.view({x.size(0), x.size(1), heads_, x.size(2) / heads_}).transpose(1, 2);
}

at::Tensor Attention::operator()(const nn::Forward& forward, const at::Tensor& x,
                                 const at::Tensor& context) const {
    auto mixed = ops::attention(split(q_(forward, x)), split(k_(forward, context)),
                                split(v_(forward, context)));
    auto y = out_(forward, mixed.transpose(1, 2).reshape(x.sizes()));
    forward.emit(path_, y);
    return y;
}

FeedForward::FeedForward(const nn::Binder& binder, std::string_view name)
    : path_(binder.path(name)),
      in_(binder.below(name), "net.0.proj"),
      out_(binder.below(name), "net.2") {}

at::Tensor FeedForward::operator()(const nn::Forward& forward, const at::Tensor& x) const {
    // rows in two axes, so that the product can read them with their stride instead of copying
    const auto rows = ops::gated_gelu(in_(forward, x)).flatten(0, 1);
    auto y = out_(forward, rows).view(x.sizes());
    forward.emit(path_, y);
    return y;
}

TransformerBlock::TransformerBlock(const nn::Binder& binder, std::string_view name,
                                   std::int64_t heads)
    : path_(binder.path(name)),
      norm1_(binder.below(name), "norm1"),
      norm2_(binder.below(name), "norm2"),
      norm3_(binder.below(name), "norm3"),
      self_(binder.below(name), "attn1", heads),
      cross_(binder.below(name), "attn2", heads),
      feed_forward_(binder.below(name), "ff") {}

at::Tensor TransformerBlock::operator()(const nn::Forward& forward, at::Tensor x,
                                        const at::Tensor& context) const {
    {
        const auto normed = norm1_(forward, x);
        x.add_(self_(forward, normed, normed));
    }
    x.add_(cross_(forward, norm2_(forward, x), context));
    x.add_(feed_forward_(forward, norm3_(forward, x)));
    forward.emit(path_, x);
    return x;
}

SpatialTransformer::SpatialTransformer(const nn::Binder& binder, std::string_view name,
                                       std::int64_t channels, int depth,
                                       const models::sd::UNetConfig& config)
    : path_(binder.path(name)),
      norm_(binder.below(name), "norm", config.norm_groups.of(channels), kGroupNormEps),
      in_(binder.below(name), "proj_in", kPointwise),
      out_(binder.below(name), "proj_out", kPointwise) {
    const auto blocks = binder.below(name).below("transformer_blocks");
    for (int i = 0; i < depth; ++i)
        blocks_.emplace_back(blocks, std::to_string(i), config.num_heads);
}

at::Tensor SpatialTransformer::operator()(const nn::Forward& forward, const at::Tensor& x,
                                          const at::Tensor& context) const {
    // one row per position; no copy, since pictures are channels-last in memory
    auto h = in_(forward, norm_(forward, x)).flatten(2).transpose(1, 2).contiguous();
    for (const auto& block : blocks_) h = block(forward, std::move(h), context);
    auto y = out_(forward, h.transpose(1, 2).reshape(x.sizes()));
    y.add_(x);
    forward.emit(path_, y);
    return y;
}

}  // namespace ballast::runtime::networks::sd
