// Ancestral sampling as in Ho et al., "Denoising Diffusion Probabilistic Models", 2020, algorithm
// 2, and the sampler of Luo et al., "Latent Consistency Models", 2023, algorithm 3.

#include <algorithm>
#include <cmath>

#include "ballast/runtime/sampling/samplers/sampler.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"

namespace ballast::runtime::sampling {

at::Tensor ddpm(const SamplerRun& run, at::Tensor x) {
    for (int i = 0; i < run.steps(); ++i) {
        const auto [from, to, denoised] = run.evaluate(i, x);
        // in the scaling in which the variance of x is preserved
        const float kept_from = 1.0F / (from * from + 1.0F);
        const float kept_to = 1.0F / (to * to + 1.0F);
        const float kept = kept_from / kept_to;
        const auto noise = (x - denoised) / from;
        auto mean = std::sqrt(1.0F / kept) * (x / std::sqrt(1.0F + from * from) -
                                              noise * (1.0F - kept) / std::sqrt(1.0F - kept_from));
        if (to > 0.0F) {
            // a step that does not fall has no room for noise
            const float variance = (1.0F - kept) * (1.0F - kept_to) / (1.0F - kept_from);
            const float spread = std::sqrt(std::max(variance, 0.0F));
            mean = (mean + run.noise.draw() * spread) * std::sqrt(1.0F + to * to);
        }
        x = mean;
    }
    return x;
}

at::Tensor lcm(const SamplerRun& run, at::Tensor x) {
    for (int i = 0; i < run.steps(); ++i) {
        const auto [from, to, denoised] = run.evaluate(i, x);
        x = to > 0.0F ? run.sampling.noised(to, run.noise.draw(), denoised) : denoised;
    }
    return x;
}

}  // namespace ballast::runtime::sampling
