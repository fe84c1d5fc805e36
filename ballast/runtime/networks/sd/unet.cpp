#include "ballast/runtime/networks/sd/unet.hpp"

#include <cmath>
#include <utility>

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::networks::sd {
namespace {

constexpr double kEps = 1e-5;

/// Sinusoidal embedding [B, width] fp32 of timesteps [B]: cosines first, then sines, with
/// frequencies 10000^(-i / half).
at::Tensor embed_timesteps(const at::Tensor& timesteps, std::int64_t width) {
    const auto half = width / 2;
    const auto index = ops::range(half);
    const auto frequencies = ops::exp(index.mul(-std::log(10000.0)).div(static_cast<double>(half)));
    const auto angles = timesteps.to(at::kFloat).unsqueeze(1).mul(frequencies.unsqueeze(0));
    auto embedded = ops::cat({ops::cos(angles), ops::sin(angles)}, 1);
    return width % 2 == 0 ? embedded : ops::pad(embedded, {0, 1});
}

}  // namespace

UNet UNet::build(const models::sd::UNetConfig& config, const plan::BlockTable& table) {
    return UNet(config, models::sd::layout(config), nn::Binder(table));
}

UNet::UNet(const models::sd::UNetConfig& config, const models::sd::UNetLayout& layout,
           const nn::Binder& binder)
    : model_channels_(config.model_channels),
      time_first_(binder, "time_embed.0"),
      time_second_(binder, "time_embed.2"),
      middle_([&]() -> Middle {
          const auto width = layout.middle_channels;
          const auto below = binder.below("middle_block");
          return {.first = ResidualBlock(below, "0", width, width, config.norm_groups),
                  .transformer = SpatialTransformer(below, "1", width, layout.middle_depth, config),
                  .second = ResidualBlock(below, "2", width, width, config.norm_groups)};
      }()),
      out_norm_(binder, "out.0", config.norm_groups.of(config.model_channels), kEps,
                nn::GroupNorm::Then::silu),
      out_conv_(binder, "out.2", {}) {
    for (const auto& stage : layout.input) input_.push_back(make_stage(stage, config, binder));
    for (const auto& stage : layout.output) output_.push_back(make_stage(stage, config, binder));
}

UNet::Stage UNet::make_stage(const models::sd::UNetStage& description,
                             const models::sd::UNetConfig& config, const nn::Binder& binder) {
    using Kind = models::sd::UNetStage::Kind;
    const auto below = binder.below(description.path);
    Stage stage;
    stage.path = binder.path(description.path);
    switch (description.kind) {
        case Kind::convolution:
            stage.convolution.emplace(below, "0", nn::Conv2d::Shape{});
            return stage;
        case Kind::downsampling:
            stage.convolution.emplace(below, "0.op", nn::Conv2d::Shape{.stride = 2, .padding = 1});
            return stage;
        case Kind::residual: break;
    }
    int next = 0;
    stage.residual.emplace(below, std::to_string(next++),
                           description.in_channels + description.skip_channels,
                           description.out_channels, config.norm_groups);
    if (description.depth > 0)
        stage.transformer.emplace(below, std::to_string(next++), description.out_channels,
                                  description.depth, config);
    if (description.then == models::sd::UNetStage::Then::upsampling) {
        const auto name = std::to_string(next);
        stage.upsampling =
            Upsampling{.conv = nn::Conv2d(below.below(name), "conv", {}), .path = below.path(name)};
    }
    return stage;
}

at::Tensor UNet::apply(const Stage& stage, const nn::Forward& forward, at::Tensor x,
                       const at::Tensor& embedding, const at::Tensor& context,
                       const at::Tensor& next_skip) {
    if (stage.convolution) x = (*stage.convolution)(forward, x);
    if (stage.residual) x = (*stage.residual)(forward, x, embedding);
    if (stage.transformer) x = (*stage.transformer)(forward, x, context);
    if (stage.upsampling) {
        // to the size that the way down had, which is not always twice this one
        const auto height = next_skip.defined() ? next_skip.size(2) : 2 * x.size(2);
        const auto width = next_skip.defined() ? next_skip.size(3) : 2 * x.size(3);
        x = stage.upsampling->conv(forward, ops::upsample_nearest(x, height, width));
        forward.emit(stage.upsampling->path, x);
    }
    forward.emit(stage.path, x);
    return x;
}

at::Tensor UNet::operator()(const nn::Forward& forward, const at::Tensor& x,
                            const at::Tensor& timesteps, const at::Tensor& context) const {
    auto embedding =
        time_first_(forward, forward.to_compute(embed_timesteps(timesteps, model_channels_)));
    ops::silu_(embedding);
    embedding = time_second_(forward, embedding);
    forward.emit("time_embed", embedding);
    // every residual block begins with the SiLU of it
    ops::silu_(embedding);

    const auto text = forward.to_compute(context);
    auto h = nn::channels_last(forward.to_compute(x));
    std::vector<at::Tensor> skips;
    for (const auto& stage : input_) {
        h = apply(stage, forward, std::move(h), embedding, text, {});
        skips.push_back(h);
    }
    h = middle_.first(forward, h, embedding);
    h = middle_.transformer(forward, h, text);
    h = middle_.second(forward, h, embedding);
    forward.emit("middle_block", h);
    for (const auto& stage : output_) {
        auto joined = ops::cat({h, skips.back()}, 1);
        h.reset();
        skips.pop_back();
        h = apply(stage, forward, std::move(joined), embedding, text,
                  skips.empty() ? at::Tensor{} : skips.back());
    }
    return nn::to_host(out_conv_(forward, out_norm_(forward, h))).contiguous();
}

}  // namespace ballast::runtime::networks::sd
