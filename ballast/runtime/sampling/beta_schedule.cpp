#include "ballast/runtime/sampling/beta_schedule.hpp"

#include <cmath>
#include <cstddef>

namespace ballast::runtime::sampling {

namespace {

/// Exactly zero would make the last sigma infinite; this is the reference's stand-in.
constexpr double kTerminalAlphaBar = 4.8973451890853435e-8;

double beta(const BetaSchedule& betas, int k) {
    const double part = betas.timesteps > 1 ? static_cast<double>(k) / (betas.timesteps - 1) : 0.0;
    if (betas.shape == BetaSchedule::Shape::sqrt_linear)
        return betas.start + part * (betas.end - betas.start);
    const double from = std::sqrt(betas.start);
    const double root = from + part * (std::sqrt(betas.end) - from);
    return root * root;
}

double sigma_of(double alpha_bar) { return std::sqrt((1.0 - alpha_bar) / alpha_bar); }

void remove_terminal_signal(std::vector<double>& sigmas) {
    const auto signal = [](double sigma) { return std::sqrt(1.0 / (sigma * sigma + 1.0)); };
    const double first = signal(sigmas.front());
    const double last = signal(sigmas.back());
    for (double& sigma : sigmas) {
        const double rescaled = (signal(sigma) - last) * (first / (first - last));
        sigma = sigma_of(rescaled * rescaled);
    }
    sigmas.back() = sigma_of(kTerminalAlphaBar);
}

}  // namespace

std::vector<double> sigma_table(const BetaSchedule& betas, TerminalSnr terminal) {
    std::vector<double> sigmas;
    sigmas.reserve(static_cast<std::size_t>(betas.timesteps));
    double alpha_bar = 1.0;
    for (int k = 0; k < betas.timesteps; ++k) {
        alpha_bar *= 1.0 - beta(betas, k);
        sigmas.push_back(sigma_of(alpha_bar));
    }
    if (terminal == TerminalSnr::zero) remove_terminal_signal(sigmas);
    return sigmas;
}

}  // namespace ballast::runtime::sampling
