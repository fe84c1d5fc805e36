#pragma once
// What encoding a prompt costs with the CLIP text encoder of Stable Diffusion 1.x.

#include "ballast/engine/plan/block_table.hpp"
#include "ballast/models/sd/config.hpp"
#include "ballast/models/step_costs.hpp"

namespace ballast::models::sd {

/// One call for the windows of `shape.tokens` tokens, at most 16; the rest of a longer prompt takes
/// further calls. Batch, sides and the latent's size do not matter. Fails as `unet_costs`.
Result<StepCosts> clip_costs(const ClipConfig& config, const plan::BlockTable& table,
                             const StepShape& shape);

}  // namespace ballast::models::sd
