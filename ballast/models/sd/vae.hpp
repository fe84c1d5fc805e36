#pragma once
// The autoencoder of Stable Diffusion 1.x (CompVis latent diffusion, KL-regularised) as a list of
// parameters.

#include <vector>

#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/plan/block_table.hpp"
#include "ballast/models/component.hpp"
#include "ballast/models/sd/config.hpp"

namespace ballast::models::sd {

/// Every parameter in model order: encoder, decoder (from its deepest level), quant convolutions.
std::vector<Parameter> parameters(const VaeConfig& config);

struct VaeDescription {
    VaeConfig config;
    plan::BlockTable table;
};

/// Configuration and blocks of the autoencoder in a checkpoint (below `first_stage_model.`) or in a
/// file of its own (bare names, or that prefix). Fails with `not_found` if the file holds none,
/// `unsupported` for other families and kinds, `corrupt_file` for tensors that are missing or do
/// not fit together.
Result<VaeDescription> describe_vae(const formats::TensorDirectory& directory);

}  // namespace ballast::models::sd
