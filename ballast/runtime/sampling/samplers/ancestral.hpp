#pragma once
// Steps that go further down than asked and add fresh noise to come back up.

#include "ballast/runtime/sampling/samplers/sampler.hpp"

namespace ballast::runtime::sampling {

/// One step from `from` to `to`: deterministic to `down`, then x = keep * x + noise * renoise.
struct AncestralStep {
    float down = 0.0F;
    float keep = 1.0F;
    float renoise = 0.0F;
};

/// The usual families: the noise restores the variance (k-diffusion's ancestral step, eta = 1). A
/// step that does not fall has no room for noise. Where `to` is far below `from`, `down` may round
/// to 0.
/// Flow models: signal and noise are rescaled together (rectified-flow form).
AncestralStep ancestral_step(const ModelSampling& sampling, float from, float to);

/// Adds the step's noise; draws nothing for a step to 0.
at::Tensor renoised(const SamplerRun& run, const AncestralStep& step, float to, at::Tensor x);

}  // namespace ballast::runtime::sampling
