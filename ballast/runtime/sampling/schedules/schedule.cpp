#include "ballast/runtime/sampling/schedules/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include "ballast/runtime/sampling/schedules/incomplete_beta.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime::sampling {

namespace {

constexpr int kMaxSteps = 1'000'000;
constexpr std::array<std::string_view, 9> kNames{"simple",      "sgm_uniform",      "karras",
                                                 "exponential", "ddim_uniform",     "beta",
                                                 "normal",      "linear_quadratic", "kl_optimal"};

/// Smaller sigmas count as zero where a schedule asks whether it ends in one by itself.
constexpr double kPracticallyZero = 1e-5;

constexpr double kBetaShape = 0.6;
constexpr double kLinearQuadraticThreshold = 0.025;

void check_steps(int steps) {
    if (steps >= 1 && steps <= kMaxSteps) return;
    throw Failure({.code = Code::bad_value,
                   .what = "cannot make a schedule",
                   .why = fmt::format("{} steps were asked for", steps),
                   .place = {.key = "steps"},
                   .hint = fmt::format("ask for 1 to {} steps", kMaxSteps)});
}

void check_positive(double value, std::string_view key) {
    if (value > 0.0 && std::isfinite(value)) return;
    throw Failure({.code = Code::bad_value,
                   .what = "cannot make a schedule",
                   .why = fmt::format("{} is {}, and only positive values make sense", key, value),
                   .place = {.key = std::string(key)}});
}

/// `count` fp32 values from `start` to `end`, both ends exact: the second half is counted back
/// from the end, as torch does.
std::vector<float> linspace(float start, float end, int count) {
    std::vector<float> values(static_cast<std::size_t>(count), start);
    if (count == 1) return values;
    const float step = (end - start) / static_cast<float>(count - 1);
    for (int i = 0; i < count; ++i)
        values[static_cast<std::size_t>(i)] = i < count / 2
                                                  ? start + step * static_cast<float>(i)
                                                  : end - step * static_cast<float>(count - 1 - i);
    return values;
}

Sigmas simple(const ModelSampling& sampling, int steps) {
    const std::span<const float> table = sampling.sigmas();
    const double stride = static_cast<double>(table.size()) / steps;
    Sigmas sigmas;
    for (int i = 0; i < steps; ++i)
        sigmas.push_back(table[table.size() - 1 - static_cast<std::size_t>(i * stride)]);
    sigmas.push_back(0.0F);
    return sigmas;
}

Sigmas at_timesteps(const ModelSampling& sampling, std::span<const float> timesteps) {
    Sigmas sigmas;
    for (const float timestep : timesteps) sigmas.push_back(sampling.sigma(timestep));
    return sigmas;
}

Sigmas sgm_uniform(const ModelSampling& sampling, int steps) {
    const auto timesteps = linspace(sampling.timestep(sampling.sigma_max()),
                                    sampling.timestep(sampling.sigma_min()), steps + 1);
    Sigmas sigmas = at_timesteps(sampling, std::span(timesteps).first(timesteps.size() - 1));
    sigmas.push_back(0.0F);
    return sigmas;
}

Sigmas normal(const ModelSampling& sampling, int steps) {
    const float end = sampling.timestep(sampling.sigma_min());
    const bool ends_in_zero = sampling.sigma(end) <= kPracticallyZero;
    const auto timesteps =
        linspace(sampling.timestep(sampling.sigma_max()), end, ends_in_zero ? steps + 1 : steps);
    Sigmas sigmas = at_timesteps(sampling, timesteps);
    if (!ends_in_zero) sigmas.push_back(0.0F);
    return sigmas;
}

Sigmas ddim_uniform(const ModelSampling& sampling, int steps) {
    const std::span<const float> table = sampling.sigmas();
    const bool ends_in_zero = table[1] <= kPracticallyZero;
    const auto count = static_cast<std::size_t>(ends_in_zero ? steps + 1 : steps);
    const std::size_t stride = std::max<std::size_t>(table.size() / count, 1);
    Sigmas sigmas;
    if (!ends_in_zero) sigmas.push_back(0.0F);
    for (std::size_t i = 1; i < table.size(); i += stride) sigmas.push_back(table[i]);
    std::reverse(sigmas.begin(), sigmas.end());
    return sigmas;
}

Sigmas beta(const ModelSampling& sampling, int steps) {
    const std::span<const float> table = sampling.sigmas();
    const auto last = static_cast<double>(table.size() - 1);
    const double stride = 1.0 / steps;
    Sigmas sigmas;
    double former = -1.0;
    for (int i = 0; i < steps; ++i) {
        const double share = inverse_incomplete_beta(kBetaShape, kBetaShape, 1.0 - i * stride);
        const double index = std::nearbyint(share * last);
        if (index != former) sigmas.push_back(table[static_cast<std::size_t>(index)]);
        former = index;
    }
    sigmas.push_back(0.0F);
    return sigmas;
}

/// First half linear up to the threshold, then a parabola that meets it with the same slope;
/// published with Movie Gen (Polyak et al.), section 3.4.2.
Sigmas linear_quadratic(const ModelSampling& sampling, int steps) {
    if (steps == 1) return {sampling.sigma_max(), 0.0F};
    const double threshold = kLinearQuadraticThreshold;
    const double linear = steps / 2;  // whole steps
    const double quadratic = steps - linear;
    const double rest = linear - threshold * steps;
    const double square_coefficient = rest / (linear * quadratic * quadratic);
    const double linear_coefficient = threshold / linear - 2.0 * rest / (quadratic * quadratic);
    const double constant = square_coefficient * (linear * linear);
    Sigmas sigmas;
    for (int i = 0; i < steps; ++i) {
        const double removed = i < linear ? i * threshold / linear
                                          : square_coefficient * (static_cast<double>(i) * i) +
                                                linear_coefficient * i + constant;
        sigmas.push_back(static_cast<float>(1.0 - removed) * sampling.sigma_max());
    }
    sigmas.push_back(0.0F);
    return sigmas;
}

/// Sabour et al., "Align Your Steps", equation 5: linear in atan sigma. One step of it is 0/0 in
/// the reference; here it goes from the largest sigma to 0 like every other schedule.
Sigmas kl_optimal(const ModelSampling& sampling, int steps) {
    if (steps == 1) return {sampling.sigma_max(), 0.0F};
    const auto from = static_cast<float>(std::atan(static_cast<double>(sampling.sigma_max())));
    const auto to = static_cast<float>(std::atan(static_cast<double>(sampling.sigma_min())));
    Sigmas sigmas;
    for (int i = 0; i < steps; ++i) {
        const float share = static_cast<float>(i) / static_cast<float>(steps - 1);
        sigmas.push_back(std::tan(share * to + (1.0F - share) * from));
    }
    sigmas.push_back(0.0F);
    return sigmas;
}

}  // namespace

std::span<const std::string_view> scheduler_names() { return kNames; }

Scheduler scheduler_of(std::string_view name) {
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) return Scheduler::simple;
    return static_cast<Scheduler>(found - kNames.begin());
}

Sigmas make_schedule(Scheduler scheduler, const ModelSampling& sampling, int steps) {
    check_steps(steps);
    switch (scheduler) {
        case Scheduler::simple: return simple(sampling, steps);
        case Scheduler::sgm_uniform: return sgm_uniform(sampling, steps);
        case Scheduler::karras:
            return karras_schedule(steps, sampling.sigma_min(), sampling.sigma_max());
        case Scheduler::exponential:
            return exponential_schedule(steps, sampling.sigma_min(), sampling.sigma_max());
        case Scheduler::ddim_uniform: return ddim_uniform(sampling, steps);
        case Scheduler::beta: return beta(sampling, steps);
        case Scheduler::normal: return normal(sampling, steps);
        case Scheduler::linear_quadratic: return linear_quadratic(sampling, steps);
        case Scheduler::kl_optimal: break;
    }
    return kl_optimal(sampling, steps);
}

Sigmas karras_schedule(int steps, double sigma_min, double sigma_max, double rho) {
    check_steps(steps);
    check_positive(sigma_min, "sigma_min");
    check_positive(sigma_max, "sigma_max");
    check_positive(rho, "rho");
    const double from = std::pow(sigma_max, 1.0 / rho);
    const double way = std::pow(sigma_min, 1.0 / rho) - from;
    Sigmas sigmas;
    for (const float share : linspace(0.0F, 1.0F, steps)) {
        const float root = static_cast<float>(from) + share * static_cast<float>(way);
        sigmas.push_back(std::pow(root, static_cast<float>(rho)));
    }
    sigmas.push_back(0.0F);
    return sigmas;
}

Sigmas exponential_schedule(int steps, double sigma_min, double sigma_max) {
    check_steps(steps);
    check_positive(sigma_min, "sigma_min");
    check_positive(sigma_max, "sigma_max");
    Sigmas sigmas;
    for (const float log_sigma : linspace(static_cast<float>(std::log(sigma_max)),
                                          static_cast<float>(std::log(sigma_min)), steps))
        sigmas.push_back(std::exp(log_sigma));
    sigmas.push_back(0.0F);
    return sigmas;
}

}  // namespace ballast::runtime::sampling
