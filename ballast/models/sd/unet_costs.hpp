#pragma once
// What a call of the diffusion network of Stable Diffusion 1.x costs.

#include "ballast/engine/plan/block_table.hpp"
#include "ballast/models/sd/config.hpp"
#include "ballast/models/step_costs.hpp"

namespace ballast::models::sd {

/// One evaluation of `shape.batch` * `shape.sides` latents with a text for each. Input and result
/// are fp32 and counted. Fails with `Code::bad_value` for shapes that `check` refuses, or a table
/// that is not of this configuration.
Result<StepCosts> unet_costs(const UNetConfig& config, const plan::BlockTable& table,
                             const StepShape& shape);

}  // namespace ballast::models::sd
