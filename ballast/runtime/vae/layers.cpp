#include "ballast/runtime/vae/layers.hpp"

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::vae {
namespace {

constexpr nn::Conv2d::Shape kPointwise{.stride = 1, .padding = 0};

}  // namespace

ResidualBlock::ResidualBlock(const nn::Binder& binder, std::string_view name, std::int64_t in,
                             std::int64_t out, const models::sd::NormGroups& groups)
    : path_(binder.path(name)),
      norm1_(binder.below(name), "norm1", groups.of(in), kNormEps, nn::GroupNorm::Then::silu),
      conv1_(binder.below(name), "conv1", {}),
      norm2_(binder.below(name), "norm2", groups.of(out), kNormEps, nn::GroupNorm::Then::silu),
      conv2_(binder.below(name), "conv2", {}) {
    const auto inside = binder.below(name);
    if (inside.has("nin_shortcut")) shortcut_.emplace(inside, "nin_shortcut", kPointwise);
}

at::Tensor ResidualBlock::operator()(const nn::Forward& forward, const at::Tensor& x) const {
    auto h = norm1_(forward, x);
    h = conv1_(forward, h);
    h = norm2_(forward, h);
    h = conv2_(forward, h);
    h.add_(shortcut_ ? (*shortcut_)(forward, x) : x);
    forward.emit(path_, h);
    return h;
}

PositionAttention::PositionAttention(const nn::Binder& binder, std::string_view name,
                                     std::int64_t channels, const models::sd::NormGroups& groups)
    : path_(binder.path(name)),
      norm_(binder.below(name), "norm", groups.of(channels), kNormEps),
      q_(binder.below(name), "q", kPointwise),
      k_(binder.below(name), "k", kPointwise),
      v_(binder.below(name), "v", kPointwise),
      out_(binder.below(name), "proj_out", kPointwise) {}

at::Tensor PositionAttention::operator()(const nn::Forward& forward, const at::Tensor& x) const {
    // [B, C, h, w] -> [B, 1, h*w, C]
    const auto rows = [](const at::Tensor& t) { return t.flatten(2).transpose(1, 2).unsqueeze(1); };
    const auto normed = norm_(forward, x);
    auto mixed = ops::attention(rows(q_(forward, normed)), rows(k_(forward, normed)),
                                rows(v_(forward, normed)));
    auto y = out_(forward, mixed.squeeze(1).transpose(1, 2).reshape(x.sizes()));
    y.add_(x);
    forward.emit(path_, y);
    return y;
}

Middle::Middle(const nn::Binder& binder, std::string_view name, std::int64_t channels,
               const models::sd::NormGroups& groups)
    : first_(binder.below(name), "block_1", channels, channels, groups),
      attention_(binder.below(name), "attn_1", channels, groups),
      second_(binder.below(name), "block_2", channels, channels, groups) {}

at::Tensor Middle::operator()(const nn::Forward& forward, at::Tensor x) const {
    x = first_(forward, x);
    x = attention_(forward, x);
    return second_(forward, x);
}

}  // namespace ballast::runtime::vae
