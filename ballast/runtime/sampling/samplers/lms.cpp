// Linear multistep of order up to four: the slope is interpolated through the last evaluations and
// integrated over the step.

#include <algorithm>
#include <array>
#include <deque>
#include <span>

#include "ballast/runtime/sampling/samplers/sampler.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"

namespace ballast::runtime::sampling {
namespace {

constexpr int kOrder = 4;

/// Integral from `from` to `to` of the Lagrange polynomial that is 1 at nodes[j] and 0 at the
/// others. Exact: the polynomial has degree three at most.
double lagrange_integral(std::span<const double> nodes, std::size_t j, double from, double to) {
    std::array<double, kOrder> polynomial{1.0};  // coefficients, lowest first
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (k == j) continue;
        const double scale = 1.0 / (nodes[j] - nodes[k]);
        for (std::size_t power = polynomial.size(); power-- > 0;) {
            const double lower = power > 0 ? polynomial[power - 1] : 0.0;
            polynomial[power] = (lower - nodes[k] * polynomial[power]) * scale;
        }
    }
    double sum = 0.0;
    double upper = to;
    double lower = from;
    for (std::size_t power = 0; power < polynomial.size(); ++power) {
        sum += polynomial[power] * (upper - lower) / static_cast<double>(power + 1);
        upper *= to;
        lower *= from;
    }
    return sum;
}

}  // namespace

at::Tensor lms(const SamplerRun& run, at::Tensor x) {
    std::deque<at::Tensor> slopes;  // newest first
    for (int i = 0; i < run.steps(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const float from = run.sigmas[at];
        const float to = run.sigmas[at + 1];
        const auto denoised = run.denoise(x, from);
        run.report(i, x, denoised);
        slopes.push_front((x - denoised) / from);
        if (slopes.size() > kOrder) slopes.pop_back();
        if (to == 0.0F) {
            x = denoised;
            continue;
        }
        std::vector<double> nodes;
        for (std::size_t j = 0; j < slopes.size(); ++j) nodes.push_back(run.sigmas[at - j] - from);
        for (std::size_t j = 0; j < slopes.size(); ++j)
            x = x + slopes[j] * static_cast<float>(lagrange_integral(
                                    nodes, j, 0.0, static_cast<double>(to) - from));
    }
    return x;
}

}  // namespace ballast::runtime::sampling
