#pragma once
// One whole sampling run, from a latent and texts to a latent: what every sampler node does.

#include <optional>
#include <string>

#include "ballast/runtime/sampling/conditioning/conditioning.hpp"
#include "ballast/runtime/sampling/guidance.hpp"
#include "ballast/runtime/sampling/latent.hpp"

namespace ballast::runtime::sampling {

struct SamplingRequest {
    Latent latent;
    Conditioning positive;
    std::optional<Conditioning> negative;  ///< nothing: no guidance
    double cfg = 1.0;
    std::string sampler = "euler";
    Sigmas sigmas;
    at::Tensor noise;        ///< of the latent's shape
    std::uint64_t seed = 0;  ///< of the noise that samplers add at their steps
    LatentFormat format = kSd1Latent;
};

/// The parts of a run that come from outside.
struct SamplingHooks {
    OnStep on_step = {};     ///< may be empty
    BeforeCall before = {};  ///< stops the run by throwing; may be empty
    AfterCall after = {};    ///< sees every output of the network; may be empty
    FitsInMemory fits = {};  ///< may be empty: every batch fits
};

struct SamplingResult {
    at::Tensor samples;   ///< the latent at the schedule's end
    at::Tensor denoised;  ///< the last estimate of the clean latent; `samples` if there was no step
};

/// Runs the schedule. A schedule without a sigma returns the latent as it is. Throws `Failure`:
/// `bad_value` (latent, noise, mask or schedule make no sense), `not_available` (sampler), and what
/// network and hooks throw.
SamplingResult run_sampling(const SamplingRequest& request, const ModelSampling& sampling,
                            DiffusionNetwork& network, const SamplingHooks& hooks = {});

}  // namespace ballast::runtime::sampling
