// Linear multistep of order up to four: the slope is interpolated through the last evaluations and
// integrated over the step.

#include <array>
#include <deque>

#include "ballast/runtime/sampling/samplers/sampler.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"

namespace ballast::runtime::sampling {

namespace {

constexpr std::size_t kOrder = 4;

/// Coefficients of a polynomial of degree below `kOrder`, constant term first.
using Polynomial = std::array<double, kOrder>;

Polynomial times_linear(const Polynomial& p, double root, double scale) {
    Polynomial product{};
    for (std::size_t k = 0; k < kOrder; ++k) {
        product[k] -= p[k] * root / scale;
        if (k + 1 < kOrder) product[k + 1] += p[k] / scale;
    }
    return product;
}

double integral_from_zero(const Polynomial& p, double to) {
    double sum = 0.0;
    for (std::size_t k = kOrder; k-- > 0;) sum = sum * to + p[k] / static_cast<double>(k + 1);
    return sum * to;
}

struct Past {
    float sigma;
    at::Tensor slope;
};
using History = std::deque<Past>;  // latest first, all sigmas different

/// The weight of `history[j]` in the step to `to`: the integral of the Lagrange polynomial that is
/// 1 at its sigma and 0 at the others. Exact, since it is a polynomial; taken relative to the
/// latest sigma, where the figures are small.
float coefficient(const History& history, std::size_t j, float to) {
    const double origin = history.front().sigma;
    const auto at = [&](std::size_t k) { return history[k].sigma - origin; };
    Polynomial lagrange{1.0};
    for (std::size_t k = 0; k < history.size(); ++k)
        if (k != j) lagrange = times_linear(lagrange, at(k), at(j) - at(k));
    return static_cast<float>(integral_from_zero(lagrange, to - origin));
}

void remember(History& history, Past latest) {
    // a step of no length (more steps than the model has sigmas) teaches nothing new
    if (!history.empty() && history.front().sigma == latest.sigma) history.pop_front();
    history.push_front(std::move(latest));
    if (history.size() > kOrder) history.pop_back();
}

}  // namespace

at::Tensor lms(const SamplerRun& run, at::Tensor x) {
    History history;
    for (int i = 0; i < run.steps(); ++i) {
        const auto [from, to, denoised] = run.evaluate(i, x);
        remember(history, {from, (x - denoised) / from});
        if (to == 0.0F) {
            x = denoised;
            continue;
        }
        at::Tensor change = history[0].slope * coefficient(history, 0, to);
        for (std::size_t j = 1; j < history.size(); ++j)
            change = change + history[j].slope * coefficient(history, j, to);
        x = x + change;
    }
    return x;
}

}  // namespace ballast::runtime::sampling
