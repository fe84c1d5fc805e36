#pragma once
// The two halves of the autoencoder: pixels to latent moments, and latent to pixels.

#include <optional>
#include <vector>

#include "ballast/runtime/vae/layers.hpp"

namespace ballast::runtime::vae {

class Encoder {
public:
    Encoder(const nn::Binder& binder, const models::sd::VaeConfig& config);
    /// [B, 3, H, W] in -1..1 -> [B, 2 z, H/f, W/f]: mean and log variance.
    at::Tensor operator()(const nn::Forward& forward, at::Tensor x) const;

private:
    struct Level {
        std::vector<ResidualBlock> blocks;
        std::optional<nn::Conv2d> down;
    };
    nn::Conv2d in_;
    std::vector<Level> levels_;
    Middle middle_;
    nn::GroupNorm norm_;
    nn::Conv2d out_;
};

class Decoder {
public:
    Decoder(const nn::Binder& binder, const models::sd::VaeConfig& config);
    /// [B, z, h, w] -> [B, 3, h*f, w*f], about -1..1.
    at::Tensor operator()(const nn::Forward& forward, at::Tensor x) const;

private:
    struct Level {
        std::vector<ResidualBlock> blocks;
        std::optional<nn::Conv2d> up;
    };
    nn::Conv2d in_;
    Middle middle_;
    std::vector<Level> levels_;  // from the deepest
    nn::GroupNorm norm_;
    nn::Conv2d out_;
};

}  // namespace ballast::runtime::vae
