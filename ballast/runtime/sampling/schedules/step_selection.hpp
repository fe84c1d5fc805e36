#pragma once
// Which part of a schedule a sampler node runs: denoise strength, start and end step, and the
// nodes that cut and turn lists of sigmas.

#include <optional>
#include <string_view>
#include <utility>

#include "ballast/runtime/sampling/schedules/schedule.hpp"

namespace ballast::runtime::sampling {

/// What the KSampler nodes run for `steps` steps of a latent that is replaced by a share of
/// `denoise`: the last part of a longer schedule, or nothing (empty) for `denoise` <= 0. Samplers
/// that would waste it get no sigma next to the final one.
/// Throws `Failure` (`bad_value`) as `make_schedule`.
Sigmas ksampler_schedule(const ModelSampling& sampling, std::string_view sampler,
                         Scheduler scheduler, int steps, std::optional<double> denoise = {});

/// The same for the scheduler node, which knows no sampler.
Sigmas basic_schedule(const ModelSampling& sampling, Scheduler scheduler, int steps,
                      double denoise = 1.0);

/// What remains at the end of a part of a schedule.
enum class LeftoverNoise { remove, keep };

/// The steps from `start` up to `end` of a schedule. Empty when nothing is left to do.
Sigmas step_range(Sigmas sigmas, int start, int end, LeftoverNoise leftover);

/// The first `step` steps and the rest; both contain the sigma between them.
std::pair<Sigmas, Sigmas> split_sigmas(const Sigmas& sigmas, int step);

/// The list turned around, for adding noise step by step. A zero that would come first is replaced
/// by 0.0001, since no step can leave it.
Sigmas flip_sigmas(Sigmas sigmas);

}  // namespace ballast::runtime::sampling
