#pragma once
// The autoencoder of Stable Diffusion 1.x: pictures to latents and back.
//
// Pictures are [B, H, W, 3] fp32 in 0..1, latents [B, z, H/f, W/f] fp32 with f = 8 for real models,
// unscaled. Both are processed picture by picture, which keeps the memory for activations at that
// of one.

#include <optional>

#include "ballast/models/sd/vae.hpp"
#include "ballast/runtime/vae/halves.hpp"
#include "ballast/runtime/vae/tiling.hpp"

namespace ballast::runtime::vae {

class Vae {
public:
    /// Throws `Failure` (`corrupt_file`) when a layer is missing.
    static Vae build(const models::sd::VaeConfig& config, const plan::BlockTable& table);

    /// The mean of the latent distribution. The picture is cropped around its centre to a multiple
    /// of f; further channels than three are dropped. Throws `Failure` (`bad_value`) when nothing
    /// is left, `unsupported` when the file has no encoder.
    at::Tensor encode(const nn::Forward& forward, const at::Tensor& pictures) const;
    /// Tile sizes in pixels.
    at::Tensor encode_tiled(const nn::Forward& forward, const at::Tensor& pictures,
                            const Tiles& tiles) const;

    at::Tensor decode(const nn::Forward& forward, const at::Tensor& latents) const;
    /// Tile sizes in latent cells.
    at::Tensor decode_tiled(const nn::Forward& forward, const at::Tensor& latents,
                            const Tiles& tiles) const;

    /// Mean and log variance [B, 2 z, h, w] of pixels [B, 3, H, W] in -1..1, in the compute type,
    /// where the arithmetic runs.
    at::Tensor moments(const nn::Forward& forward, const at::Tensor& pixels) const;
    /// Pixels [B, 3, H, W], about -1..1, of latents, likewise.
    at::Tensor pixels(const nn::Forward& forward, const at::Tensor& latents) const;

private:
    Vae(const models::sd::VaeConfig& config, const nn::Binder& binder);
    void check_latents(const at::Tensor& latents) const;
    at::Tensor cropped_pixels(const at::Tensor& pictures) const;

    models::sd::VaeConfig config_;
    std::optional<Encoder> encoder_;
    Decoder decoder_;
    std::optional<nn::Conv2d> quant_;
    std::optional<nn::Conv2d> post_quant_;
};

}  // namespace ballast::runtime::vae
