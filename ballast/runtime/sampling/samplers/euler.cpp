// Euler's method along d = (x - D) / sigma, plain and ancestral. Karras et al., "Elucidating the
// Design Space of Diffusion-Based Generative Models", 2022, algorithm 2 without churn.

#include "ballast/runtime/sampling/samplers/ancestral.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"

namespace ballast::runtime::sampling {

at::Tensor euler(const SamplerRun& run, at::Tensor x) {
    for (int i = 0; i < run.steps(); ++i) {
        const auto [from, to, denoised] = run.evaluate(i, x);
        x = x + (x - denoised) / from * (to - from);
    }
    return x;
}

at::Tensor euler_ancestral(const SamplerRun& run, at::Tensor x) {
    for (int i = 0; i < run.steps(); ++i) {
        const auto [from, to, denoised] = run.evaluate(i, x);
        const auto step = ancestral_step(run.sampling, from, to);
        if (step.down == 0.0F) {
            x = denoised;
            continue;
        }
        if (run.sampling.is_flow()) {
            const float ratio = step.down / from;
            x = ratio * x + (1.0F - ratio) * denoised;
        } else {
            x = x + (x - denoised) / from * (step.down - from);
        }
        x = renoised(run, step, to, std::move(x));
    }
    return x;
}

}  // namespace ballast::runtime::sampling
