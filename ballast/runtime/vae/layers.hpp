#pragma once
// Layers of the autoencoder: residual block, single-head attention, the middle of both halves.

#include <optional>
#include <string>

#include "ballast/models/sd/config.hpp"
#include "ballast/runtime/nn/layers.hpp"

namespace ballast::runtime::vae {

inline constexpr double kNormEps = 1e-6;

/// Two convolutions, each behind GroupNorm and SiLU; a 1x1 convolution where the width changes.
class ResidualBlock {
public:
    ResidualBlock(const nn::Binder& binder, std::string_view name, std::int64_t in,
                  std::int64_t out, const models::sd::NormGroups& groups);
    at::Tensor operator()(const nn::Forward& forward, const at::Tensor& x) const;

private:
    std::string path_;
    nn::GroupNorm norm1_;
    nn::Conv2d conv1_;
    nn::GroupNorm norm2_;
    nn::Conv2d conv2_;
    std::optional<nn::Conv2d> shortcut_;
};

/// Self-attention of one head over all positions.
class PositionAttention {
public:
    PositionAttention(const nn::Binder& binder, std::string_view name, std::int64_t channels,
                      const models::sd::NormGroups& groups);
    at::Tensor operator()(const nn::Forward& forward, const at::Tensor& x) const;

private:
    std::string path_;
    nn::GroupNorm norm_;
    nn::Conv2d q_, k_, v_, out_;
};

/// Residual block, attention, residual block at the lowest resolution.
class Middle {
public:
    Middle(const nn::Binder& binder, std::string_view name, std::int64_t channels,
           const models::sd::NormGroups& groups);
    at::Tensor operator()(const nn::Forward& forward, at::Tensor x) const;

private:
    ResidualBlock first_;
    PositionAttention attention_;
    ResidualBlock second_;
};

}  // namespace ballast::runtime::vae
