#pragma once
// What the autoencoder of Stable Diffusion 1.x costs.

#include "ballast/engine/plan/block_table.hpp"
#include "ballast/models/sd/config.hpp"
#include "ballast/models/step_costs.hpp"

namespace ballast::models::sd {

// A step is one picture, since pictures of a batch go one after the other; of the batch, what is
// held of the other pictures counts. The half that is not run costs nothing. Sides and tokens do
// not matter. Both fail as `unet_costs`; encoding also with `unsupported` without an encoder.

/// Latents to pictures, fp32 in and out.
Result<StepCosts> vae_decode_costs(const VaeConfig& config, const plan::BlockTable& table,
                                   const StepShape& shape);
/// Pictures, of the size that belongs to the latent, to latents.
Result<StepCosts> vae_encode_costs(const VaeConfig& config, const plan::BlockTable& table,
                                   const StepShape& shape);

}  // namespace ballast::models::sd
