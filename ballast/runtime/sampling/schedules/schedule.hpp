#pragma once
// Noise schedules: which sigmas a run of n steps visits.
//
// A schedule is a list of falling fp32 sigmas; n steps need n + 1 of them, and the last is 0 when
// the run ends in a clean latent. Values follow the reference to fp32 rounding.

#include <span>
#include <string_view>
#include <vector>

#include "ballast/runtime/sampling/model_sampling.hpp"

namespace ballast::runtime::sampling {

using Sigmas = std::vector<float>;

enum class Scheduler {
    simple,
    sgm_uniform,
    karras,
    exponential,
    ddim_uniform,
    beta,
    normal,
    linear_quadratic,
    kl_optimal,
};

/// All names in the order in which they are offered.
std::span<const std::string_view> scheduler_names();

/// The scheduler of that name; `simple` for a name that is unknown, as in the reference.
Scheduler scheduler_of(std::string_view name);

/// Throws `Failure` (`bad_value`) for fewer than one or more than a million steps. Some schedules
/// return more or fewer steps than asked: `ddim_uniform` takes whole strides through the table,
/// `beta` drops repeated entries.
Sigmas make_schedule(Scheduler scheduler, const ModelSampling& sampling, int steps);

/// Karras et al., "Elucidating the Design Space", equation 5: linear in sigma^(1/rho). Throws
/// `Failure` (`bad_value`) unless all three are positive.
Sigmas karras_schedule(int steps, double sigma_min, double sigma_max, double rho = 7.0);

/// Linear in ln sigma. Throws `Failure` (`bad_value`) unless both are positive.
Sigmas exponential_schedule(int steps, double sigma_min, double sigma_max);

}  // namespace ballast::runtime::sampling
