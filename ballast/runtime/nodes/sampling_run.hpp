#pragma once
// A sampling run of the real network, as all sampler nodes do it.

#include <string>

#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/values.hpp"
#include "ballast/runtime/sampling/run.hpp"

namespace ballast::runtime::nodes {

/// What a sampler node asks for.
struct SamplerTask {
    Guider guider;
    std::string sampler;
    sampling::Sigmas sigmas;
    Noise noise;             ///< what the run starts with
    std::uint64_t seed = 0;  ///< of the noise that samplers add at their steps
};

struct SampledLatents {
    sampling::Latent samples;
    sampling::Latent denoised;
};

/// Progress goes to the observer; the run stops at the next layer when it asks for it. When memory
/// runs out, the run is repeated with one text per network call. Throws `Failure`.
SampledLatents sample(const Context& context, const SamplerTask& task,
                      const sampling::Latent& latent);

}  // namespace ballast::runtime::nodes
