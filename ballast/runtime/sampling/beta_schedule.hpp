#pragma once
// The noise levels of a diffusion model that was trained on discrete timesteps.

#include <vector>

namespace ballast::runtime::sampling {

/// How fast training adds noise: beta_k over the timesteps k.
struct BetaSchedule {
    enum class Shape {
        linear,       ///< linear in sqrt(beta); what Stable Diffusion calls "linear"
        sqrt_linear,  ///< linear in beta
    };
    Shape shape = Shape::linear;
    double start = 0.00085;
    double end = 0.012;
    int timesteps = 1000;
};

/// The signal that is left at the last timestep: as the betas say, or (practically) none, after
/// Lin et al., "Common Diffusion Noise Schedules and Sample Steps are Flawed", algorithm 1.
enum class TerminalSnr { as_trained, zero };

/// sigma = sqrt((1 - a) / a) with a the running product of 1 - beta; ascending, one per timestep.
std::vector<double> sigma_table(const BetaSchedule& betas, TerminalSnr terminal);

}  // namespace ballast::runtime::sampling
