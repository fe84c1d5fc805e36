#include "ballast/runtime/sampling/schedules/step_selection.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace ballast::runtime::sampling {

namespace {

constexpr double kAllOfIt = 0.9999;
constexpr float kInsteadOfZero = 0.0001F;

/// Samplers of second order, for which the last sigma above zero is too near to zero.
constexpr std::array<std::string_view, 4> kSkipPenultimate{"dpm_2", "dpm_2_ancestral", "uni_pc",
                                                           "uni_pc_bh2"};

int longer(int steps, double denoise) {
    constexpr double kMax = 2'000'000.0;  // refused by make_schedule, and an int
    return static_cast<int>(std::min(static_cast<double>(steps) / denoise, kMax));
}

Sigmas last_steps(const Sigmas& sigmas, int steps) {
    const auto count = std::min(sigmas.size(), static_cast<std::size_t>(steps) + 1);
    return {sigmas.end() - static_cast<std::ptrdiff_t>(count), sigmas.end()};
}

std::ptrdiff_t position(const Sigmas& sigmas, int step) {
    return std::min(static_cast<std::ptrdiff_t>(std::max(step, 0)), std::ssize(sigmas));
}

}  // namespace

Sigmas ksampler_schedule(const ModelSampling& sampling, std::string_view sampler,
                         Scheduler scheduler, int steps, std::optional<double> denoise) {
    const bool skips_penultimate = std::find(kSkipPenultimate.begin(), kSkipPenultimate.end(),
                                             sampler) != kSkipPenultimate.end();
    const auto whole = [&](int count) {
        if (!skips_penultimate) return make_schedule(scheduler, sampling, count);
        Sigmas sigmas = make_schedule(scheduler, sampling, count + 1);
        if (sigmas.size() >= 2) sigmas.erase(sigmas.end() - 2);
        return sigmas;
    };
    if (!denoise || *denoise > kAllOfIt) return whole(steps);
    if (!(*denoise > 0.0)) return {};
    return last_steps(whole(longer(steps, *denoise)), steps);
}

Sigmas basic_schedule(const ModelSampling& sampling, Scheduler scheduler, int steps,
                      double denoise) {
    if (!(denoise > 0.0)) return {};
    const int total = denoise < 1.0 ? longer(steps, denoise) : steps;
    return last_steps(make_schedule(scheduler, sampling, total), steps);
}

Sigmas step_range(Sigmas sigmas, int start, int end, LeftoverNoise leftover) {
    const std::ptrdiff_t first = position(sigmas, start);
    const std::ptrdiff_t last = position(sigmas, end);
    if (last < std::ssize(sigmas) - 1) {
        sigmas.resize(static_cast<std::size_t>(last) + 1);
        if (leftover == LeftoverNoise::remove) sigmas.back() = 0.0F;
    }
    if (first >= std::ssize(sigmas) - 1) return {};
    return {sigmas.begin() + first, sigmas.end()};
}

std::pair<Sigmas, Sigmas> split_sigmas(const Sigmas& sigmas, int step) {
    const std::ptrdiff_t low_from = position(sigmas, step);
    const std::ptrdiff_t high_to = std::min(low_from + 1, std::ssize(sigmas));
    return {Sigmas(sigmas.begin(), sigmas.begin() + high_to),
            Sigmas(sigmas.begin() + low_from, sigmas.end())};
}

Sigmas flip_sigmas(Sigmas sigmas) {
    std::reverse(sigmas.begin(), sigmas.end());
    if (!sigmas.empty() && sigmas.front() == 0.0F) sigmas.front() = kInsteadOfZero;
    return sigmas;
}

}  // namespace ballast::runtime::sampling
