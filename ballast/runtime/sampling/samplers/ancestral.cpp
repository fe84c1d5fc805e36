#include "ballast/runtime/sampling/samplers/ancestral.hpp"

#include <algorithm>
#include <cmath>

#include "ballast/runtime/tensor/arithmetic.hpp"

namespace ballast::runtime::sampling {

namespace {

float square(float value) { return value * value; }

/// Rounding, and steps that do not fall, make differences of squares negative.
float root(float value) { return std::sqrt(std::max(value, 0.0F)); }

AncestralStep flow_step(float from, float to) {
    const float down = to * (1.0F + (to / from - 1.0F));
    const float signal = 1.0F - to;
    const float signal_down = 1.0F - down;
    const float removed = square(down) * square(signal) / square(signal_down);
    return {.down = down, .keep = signal / signal_down, .renoise = root(square(to) - removed)};
}

}  // namespace

AncestralStep ancestral_step(const ModelSampling& sampling, float from, float to) {
    if (sampling.is_flow()) return flow_step(from, to);
    const float variance = square(to) * (square(from) - square(to)) / square(from);
    const float up = std::min(to, root(variance));
    return {.down = root(square(to) - square(up)), .keep = 1.0F, .renoise = up};
}

at::Tensor renoised(const SamplerRun& run, const AncestralStep& step, float to, at::Tensor x) {
    if (to == 0.0F) return x;
    const auto noise = run.noise.draw() * step.renoise;
    return step.keep == 1.0F ? x + noise : step.keep * x + noise;
}

}  // namespace ballast::runtime::sampling
