// DPM-Solver++ with data prediction: Lu et al., "DPM-Solver++: Fast Solver for Guided Sampling of
// Diffusion Probabilistic Models", 2022. Time is lambda = -ln sigma.

#include <cmath>

#include "ballast/runtime/sampling/samplers/ancestral.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"

namespace ballast::runtime::sampling {
namespace {

float time_of(float sigma) { return -std::log(sigma); }

/// A step of first order from sigma `from` to `to` with the clean latent known.
at::Tensor first_order(const at::Tensor& x, const at::Tensor& denoised, float from, float to) {
    const float h = time_of(to) - time_of(from);
    return to / from * x - std::expm1(-h) * denoised;
}

/// Half way in logit time, the flow models' lambda.
float flow_midpoint(float from, float down) {
    if (from == 1.0F) return 0.9999F;
    const auto logit = [](float sigma) { return std::log((1.0F - sigma) / sigma); };
    const float middle = logit(from) + 0.5F * (logit(down) - logit(from));
    return 1.0F / (std::exp(middle) + 1.0F);
}

at::Tensor blend(const at::Tensor& x, const at::Tensor& denoised, float ratio) {
    return ratio * x + (1.0F - ratio) * denoised;
}

}  // namespace

at::Tensor dpmpp_2s_ancestral(const SamplerRun& run, at::Tensor x) {
    for (int i = 0; i < run.steps(); ++i) {
        const auto [from, to, denoised] = run.evaluate(i, x);
        const auto step = ancestral_step(run.sampling, from, to);
        if (step.down == 0.0F) {
            x = x + (x - denoised) / from * (step.down - from);
        } else if (run.sampling.is_flow()) {
            const float middle = flow_midpoint(from, step.down);
            const auto halfway = run.denoise(blend(x, denoised, middle / from), middle);
            x = blend(x, halfway, step.down / from);
        } else {
            const float h = time_of(step.down) - time_of(from);
            const float middle = std::exp(-(time_of(from) + 0.5F * h));
            const auto halfway = run.denoise(first_order(x, denoised, from, middle), middle);
            x = first_order(x, halfway, from, step.down);
        }
        x = renoised(run, step, to, std::move(x));
    }
    return x;
}

at::Tensor dpmpp_2m(const SamplerRun& run, at::Tensor x) {
    at::Tensor former;
    float former_sigma = 0.0F;
    for (int i = 0; i < run.steps(); ++i) {
        const auto [from, to, denoised] = run.evaluate(i, x);
        if (to == 0.0F) {
            x = denoised;
        } else if (!former.defined() || former_sigma == from) {
            x = first_order(x, denoised, from, to);
        } else {
            const float h = time_of(to) - time_of(from);
            const float h_former = time_of(from) - time_of(former_sigma);
            const float half = 1.0F / (2.0F * (h_former / h));
            x = first_order(x, (1.0F + half) * denoised - half * former, from, to);
        }
        former = denoised;
        former_sigma = from;
    }
    return x;
}

}  // namespace ballast::runtime::sampling
