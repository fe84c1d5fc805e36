#include "ballast/runtime/sampling/samplers/ancestral.hpp"

#include <algorithm>
#include <cmath>

#include "ballast/runtime/tensor/arithmetic.hpp"

namespace ballast::runtime::sampling {

AncestralStep ancestral_step(const ModelSampling& sampling, float from, float to) {
    if (sampling.is_flow()) {
        const float down = to * (1.0F + (to / from - 1.0F));
        const float keep = (1.0F - to) / (1.0F - down);
        const float variance = to * to - down * down * keep * keep;
        return {.down = down, .keep = keep, .renoise = std::sqrt(std::max(0.0F, variance))};
    }
    const float up = std::min(to, std::sqrt(to * to * (from * from - to * to) / (from * from)));
    return {.down = std::sqrt(to * to - up * up), .keep = 1.0F, .renoise = up};
}

at::Tensor renoised(const SamplerRun& run, const AncestralStep& step, float to, at::Tensor x) {
    if (to == 0.0F) return x;
    const auto noise = run.noise.draw() * step.renoise;
    return step.keep == 1.0F ? x + noise : step.keep * x + noise;
}

}  // namespace ballast::runtime::sampling
