#include "ballast/runtime/vae/vae.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::vae {
namespace {

constexpr nn::Conv2d::Shape kPointwise{.stride = 1, .padding = 0};

/// [B, 3, H, W] about -1..1 -> [B, H, W, 3] in 0..1.
at::Tensor to_pictures(const at::Tensor& pixels) {
    return ops::clamp(nn::to_host(pixels).add(1.0).div_(2.0), 0.0, 1.0)
        .permute({0, 2, 3, 1})
        .contiguous();
}

}  // namespace

Vae Vae::build(const models::sd::VaeConfig& config, const plan::BlockTable& table) {
    return Vae(config, nn::Binder(table));
}

Vae::Vae(const models::sd::VaeConfig& config, const nn::Binder& binder)
    : config_(config), decoder_(binder.below("decoder"), config) {
    if (config.has_encoder) encoder_.emplace(binder.below("encoder"), config);
    if (!config.has_quant_convs) return;
    if (config.has_encoder) quant_.emplace(binder, "quant_conv", kPointwise);
    post_quant_.emplace(binder, "post_quant_conv", kPointwise);
}

at::Tensor Vae::moments(const nn::Forward& forward, const at::Tensor& pixels) const {
    if (!encoder_) {
        throw Failure(Error{.code = Code::unsupported,
                            .what = "cannot encode",
                            .why = "the autoencoder's file holds a decoder only",
                            .hint = "use a file with both halves"});
    }
    auto moments = (*encoder_)(forward, nn::channels_last(forward.to_compute(pixels)));
    return quant_ ? (*quant_)(forward, moments) : moments;
}

at::Tensor Vae::pixels(const nn::Forward& forward, const at::Tensor& latents) const {
    auto z = nn::channels_last(forward.to_compute(latents));
    if (post_quant_) z = (*post_quant_)(forward, z);
    return decoder_(forward, std::move(z));
}

at::Tensor Vae::cropped_pixels(const at::Tensor& pictures) const {
    const auto factor = config_.factor();
    auto cut = pictures.to(at::kFloat);
    if (cut.dim() != 4 || cut.size(3) < 3) {
        throw Failure(Error{.code = Code::bad_value,
                            .what = "cannot encode",
                            .why = "a picture needs rows, columns and three channels"});
    }
    cut = cut.narrow(3, 0, 3);
    for (const std::int64_t axis : {1, 2}) {
        const auto size = cut.size(axis) / factor * factor;
        if (size == 0) {
            throw Failure(Error{.code = Code::bad_value,
                                .what = "cannot encode",
                                .why = fmt::format("the picture is smaller than {} pixels", factor),
                                .hint = "scale it up first"});
        }
        cut = cut.narrow(axis, cut.size(axis) % factor / 2, size);
    }
    return cut.permute({0, 3, 1, 2}).mul(2.0).sub_(1.0).contiguous();
}

void Vae::check_latents(const at::Tensor& latents) const {
    if (latents.dim() == 4 && latents.size(1) == config_.embed_dim && latents.numel() > 0) return;
    throw Failure(
        Error{.code = Code::bad_value,
              .what = "cannot decode",
              .why = fmt::format("the autoencoder wants latents of {} channels, not of shape [{}]",
                                 config_.embed_dim, fmt::join(latents.sizes(), ", ")),
              .hint = "use the autoencoder that belongs to the model"});
}

at::Tensor Vae::encode(const nn::Forward& forward, const at::Tensor& pictures) const {
    const auto pixels = cropped_pixels(pictures);
    std::vector<at::Tensor> means;
    for (std::int64_t b = 0; b < pixels.size(0); ++b)
        means.push_back(
            nn::to_host(moments(forward, pixels.narrow(0, b, 1)).narrow(1, 0, config_.embed_dim))
                .contiguous());
    return ops::cat(means, 0);
}

at::Tensor Vae::encode_tiled(const nn::Forward& forward, const at::Tensor& pictures,
                             const Tiles& tiles) const {
    return tiled_three_ways(cropped_pixels(pictures), config_.embed_dim, tiles,
                            {.up = 1, .down = config_.factor()}, [&](const at::Tensor& piece) {
                                return moments(forward, piece).narrow(1, 0, config_.embed_dim);
                            });
}

at::Tensor Vae::decode(const nn::Forward& forward, const at::Tensor& latents) const {
    check_latents(latents);
    std::vector<at::Tensor> pictures;
    for (std::int64_t b = 0; b < latents.size(0); ++b)
        pictures.push_back(to_pictures(pixels(forward, latents.narrow(0, b, 1))));
    return ops::cat(pictures, 0);
}

at::Tensor Vae::decode_tiled(const nn::Forward& forward, const at::Tensor& latents,
                             const Tiles& tiles) const {
    check_latents(latents);
    return to_pictures(
        tiled_three_ways(latents, 3, tiles, {.up = config_.factor(), .down = 1},
                         [&](const at::Tensor& piece) { return pixels(forward, piece); }));
}

}  // namespace ballast::runtime::vae
