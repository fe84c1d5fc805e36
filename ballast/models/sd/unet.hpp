#pragma once
// The diffusion network of Stable Diffusion 1.x as a list of stages and parameters.
//
// Names, order and shapes follow the published checkpoints (CompVis, "High-Resolution Image
// Synthesis with Latent Diffusion Models", 2022): levels of residual blocks and transformers on
// the way down, a middle, and the mirror of it on the way up with skip connections.

#include <string>
#include <vector>

#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/plan/block_table.hpp"
#include "ballast/models/component.hpp"
#include "ballast/models/sd/config.hpp"

namespace ballast::models::sd {

/// One numbered entry of `input_blocks` or `output_blocks`.
struct UNetStage {
    enum class Kind {
        convolution,  ///< the first layer: 3x3, to model_channels
        residual,     ///< residual block, then a transformer if depth > 0, then upsampling if asked
        downsampling  ///< 3x3 convolution of stride 2
    };
    enum class Then { nothing, upsampling };

    std::string path;  ///< "input_blocks.3"
    Kind kind = Kind::residual;
    std::int64_t in_channels = 0;    ///< without the skip connection
    std::int64_t skip_channels = 0;  ///< concatenated behind the input; 0 on the way down
    std::int64_t out_channels = 0;
    int depth = 0;  ///< transformer blocks
    Then then = Then::nothing;
};

/// All stages in the order in which the network is built and run.
struct UNetLayout {
    std::vector<UNetStage> input;
    std::int64_t middle_channels = 0;
    int middle_depth = 0;
    std::vector<UNetStage> output;
};

/// Stages of a consistent configuration (as `describe_unet` returns, or SD 1.5's defaults).
UNetLayout layout(const UNetConfig& config);

/// Every parameter in model order.
std::vector<Parameter> parameters(const UNetConfig& config);

struct UNetDescription {
    UNetConfig config;
    plan::BlockTable table;
};

/// Configuration and blocks of the network in a checkpoint (prefix `model.diffusion_model.`) or in
/// a file of its own (that prefix, `diffusion_model.`, or bare names). Fails with `not_found` if
/// the file holds none, `unsupported` for other families and kinds, `corrupt_file` for tensors
/// that are missing or do not fit together.
Result<UNetDescription> describe_unet(const formats::TensorDirectory& directory);

}  // namespace ballast::models::sd
