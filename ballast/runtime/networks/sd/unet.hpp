#pragma once
// The diffusion network of Stable Diffusion 1.x: predicts the noise in a latent, given a timestep
// and a text.
//
// Ho et al., "Denoising Diffusion Probabilistic Models", 2020 (residual blocks, timestep
// embedding); Rombach et al., "High-Resolution Image Synthesis with Latent Diffusion Models", 2022
// (transformer blocks with cross-attention).

#include <optional>
#include <string>
#include <vector>

#include "ballast/models/sd/unet.hpp"
#include "ballast/runtime/networks/sd/residual_block.hpp"
#include "ballast/runtime/networks/sd/spatial_transformer.hpp"

namespace ballast::runtime::networks::sd {

class UNet {
public:
    /// Throws `Failure` (`corrupt_file`) when a layer is missing.
    static UNet build(const models::sd::UNetConfig& config, const plan::BlockTable& table);

    /// x [B, 4, h, w] of any size, timesteps [B], context [B, tokens, width] -> [B, 4, h, w], all
    /// fp32 on the processor; arithmetic in the weights' compute type, where they are pinned.
    at::Tensor operator()(const nn::Forward& forward, const at::Tensor& x,
                          const at::Tensor& timesteps, const at::Tensor& context) const;

private:
    struct Upsampling {
        nn::Conv2d conv;
        std::string path;
    };
    /// What one numbered stage applies, in order; which of these it has is its kind.
    struct Stage {
        std::optional<nn::Conv2d> convolution;  // first layer or downsampling
        std::optional<ResidualBlock> residual;
        std::optional<SpatialTransformer> transformer;
        std::optional<Upsampling> upsampling;
        std::string path;
    };
    struct Middle {
        ResidualBlock first;
        SpatialTransformer transformer;
        ResidualBlock second;
    };

    UNet(const models::sd::UNetConfig& config, const models::sd::UNetLayout& layout,
         const nn::Binder& binder);
    static Stage make_stage(const models::sd::UNetStage& description,
                            const models::sd::UNetConfig& config, const nn::Binder& binder);

    /// `next_skip` gives the size that upsampling goes to; may be undefined.
    static at::Tensor apply(const Stage& stage, const nn::Forward& forward, at::Tensor x,
                            const at::Tensor& embedding, const at::Tensor& context,
                            const at::Tensor& next_skip);

    std::int64_t model_channels_;
    nn::Linear time_first_;
    nn::Linear time_second_;
    std::vector<Stage> input_;
    Middle middle_;
    std::vector<Stage> output_;
    nn::GroupNorm out_norm_;
    nn::Conv2d out_conv_;
};

}  // namespace ballast::runtime::networks::sd
