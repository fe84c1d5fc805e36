// Solvers with a second evaluation per step: Heun (Karras et al. 2022, algorithm 1 without churn)
// and the midpoint method at the geometric mean, plain and ancestral.

#include <cmath>

#include "ballast/runtime/sampling/samplers/ancestral.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"

namespace ballast::runtime::sampling {
namespace {

/// Halfway in ln sigma, counted from the far end as the reference does.
float geometric_mean(float from, float to) {
    return std::exp(std::log(to) - (std::log(to) - std::log(from)) * 0.5F);
}

/// From `from` to `to` > 0 along the slope at the geometric mean.
at::Tensor midpoint(const SamplerRun& run, const at::Tensor& x, const at::Tensor& slope, float from,
                    float to) {
    const float middle = geometric_mean(from, to);
    const auto x_middle = x + slope * (middle - from);
    const auto slope_middle = (x_middle - run.denoise(x_middle, middle)) / middle;
    return x + slope_middle * (to - from);
}

}  // namespace

at::Tensor heun(const SamplerRun& run, at::Tensor x) {
    for (int i = 0; i < run.steps(); ++i) {
        const auto [from, to, denoised] = run.evaluate(i, x);
        const auto slope = (x - denoised) / from;
        const auto next = x + slope * (to - from);
        if (to == 0.0F) {
            x = next;
            continue;
        }
        const auto slope_next = (next - run.denoise(next, to)) / to;
        x = x + (slope + slope_next) / 2.0F * (to - from);
    }
    return x;
}

at::Tensor dpm_2(const SamplerRun& run, at::Tensor x) {
    for (int i = 0; i < run.steps(); ++i) {
        const auto [from, to, denoised] = run.evaluate(i, x);
        const auto slope = (x - denoised) / from;
        x = to == 0.0F ? x + slope * (to - from) : midpoint(run, x, slope, from, to);
    }
    return x;
}

at::Tensor dpm_2_ancestral(const SamplerRun& run, at::Tensor x) {
    for (int i = 0; i < run.steps(); ++i) {
        const auto [from, to, denoised] = run.evaluate(i, x);
        const auto step = ancestral_step(run.sampling, from, to);
        const auto slope = (x - denoised) / from;
        if (step.down == 0.0F) {
            x = x + slope * (step.down - from);
            continue;
        }
        x = renoised(run, step, to, midpoint(run, x, slope, from, step.down));
    }
    return x;
}

}  // namespace ballast::runtime::sampling
