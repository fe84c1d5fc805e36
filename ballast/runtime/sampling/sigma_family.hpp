#pragma once
// How a family of models counts noise: the table of sigmas that schedules pick from, and the way
// between a sigma and the timestep that the network is told.
//
// All arithmetic is fp32 in the reference's order, except the percentages, which are doubles there,
// too.

#include <memory>
#include <vector>

#include "ballast/runtime/sampling/beta_schedule.hpp"

namespace ballast::runtime::sampling {

/// Immutable.
class SigmaFamily {
public:
    SigmaFamily() = default;
    SigmaFamily(const SigmaFamily&) = delete;
    SigmaFamily& operator=(const SigmaFamily&) = delete;
    virtual ~SigmaFamily() = default;

    /// The sigmas that the model knows, ascending; at least two.
    [[nodiscard]] virtual const std::vector<float>& table() const = 0;
    /// What the network is told for `sigma` > 0.
    [[nodiscard]] virtual float timestep(float sigma) const = 0;
    [[nodiscard]] virtual float sigma(float timestep) const = 0;
    /// The sigma at a share of the way from noise (0) to picture (1). At 0 and below it is at
    /// least every sigma of a schedule, at 1 and above it is 0.
    [[nodiscard]] virtual double sigma_of_percent(double percent) const = 0;
};

using SigmaFamilyPtr = std::shared_ptr<const SigmaFamily>;

/// Trained on discrete timesteps: the timestep is the index of the nearest ln sigma.
SigmaFamilyPtr discrete_sigmas(const BetaSchedule& betas, TerminalSnr terminal);

/// A model distilled to 50 of those timesteps: every 20th, counted from the last.
SigmaFamilyPtr distilled_sigmas(const BetaSchedule& betas, TerminalSnr terminal);

/// Rectified flow with a time shift: sigma = shift u / (1 + (shift - 1) u), u = t / multiplier.
/// `timestep` does not undo the shift; the reference's schedules rely on that.
SigmaFamilyPtr flow_sigmas(double shift, double multiplier);

/// Rectified flow with the exponential shift of Flux: sigma = e^mu / (e^mu + 1/t - 1).
SigmaFamilyPtr flux_sigmas(double mu);

}  // namespace ballast::runtime::sampling
