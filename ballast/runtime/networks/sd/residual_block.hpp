#pragma once
// Residual block of the diffusion network: two convolutions with the timestep added in between.

#include <optional>
#include <string>

#include "ballast/models/sd/config.hpp"
#include "ballast/runtime/nn/layers.hpp"

namespace ballast::runtime::networks::sd {

class ResidualBlock {
public:
    ResidualBlock(const nn::Binder& binder, std::string_view name, std::int64_t in,
                  std::int64_t out, const models::sd::NormGroups& groups);

    /// x [B, in, h, w], embedding [B, width] after SiLU -> [B, out, h, w].
    at::Tensor operator()(const nn::Forward& forward, const at::Tensor& x,
                          const at::Tensor& embedding) const;

private:
    std::string path_;
    nn::GroupNorm in_norm_;
    nn::Conv2d in_conv_;
    nn::Linear embedding_;
    nn::GroupNorm out_norm_;
    nn::Conv2d out_conv_;
    std::optional<nn::Conv2d> skip_;
};

}  // namespace ballast::runtime::networks::sd
