#include "ballast/runtime/networks/sd/residual_block.hpp"

namespace ballast::runtime::networks::sd {
namespace {

constexpr double kEps = 1e-5;

}  // namespace

ResidualBlock::ResidualBlock(const nn::Binder& binder, std::string_view name, std::int64_t in,
                             std::int64_t out, const models::sd::NormGroups& groups)
    : path_(binder.path(name)),
      in_norm_(binder.below(name), "in_layers.0", groups.of(in), kEps, nn::GroupNorm::Then::silu),
      in_conv_(binder.below(name), "in_layers.2", {}),
      embedding_(binder.below(name), "emb_layers.1"),
      out_norm_(binder.below(name), "out_layers.0", groups.of(out), kEps,
                nn::GroupNorm::Then::silu),
      out_conv_(binder.below(name), "out_layers.3", {}) {
    const auto inside = binder.below(name);
    if (inside.has("skip_connection"))
        skip_.emplace(inside, "skip_connection", nn::Conv2d::Shape{.stride = 1, .padding = 0});
}

at::Tensor ResidualBlock::operator()(const nn::Forward& forward, const at::Tensor& x,
                                     const at::Tensor& embedding) const {
    auto h = in_conv_(forward, in_norm_(forward, x));
    h.add_(embedding_(forward, embedding).unsqueeze(-1).unsqueeze(-1));
    h = out_norm_(forward, h);
    h = out_conv_(forward, h);
    h.add_(skip_ ? (*skip_)(forward, x) : x);
    forward.emit(path_, h);
    return h;
}

}  // namespace ballast::runtime::networks::sd
