// UniPC: Zhao et al., "UniPC: A Unified Predictor-Corrector Framework for Fast Sampling of
// Diffusion Models", 2023, with data prediction, B(h) = h (uni_pc) or e^h - 1 (uni_pc_bh2).
//
// Works in the variance-preserving form of the process for every family of models, flows included.
// Coefficients are fp32 in the reference's order, and that shows: next to the final sigma of 0.001,
// 1 - alpha^2 keeps four bits, and with more of them the result would leave the tolerance.

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "ballast/runtime/sampling/samplers/sampler.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"

namespace ballast::runtime::sampling {

namespace {

constexpr std::size_t kMaxOrder = 3;

/// A final zero has no finite log signal-to-noise ratio; the run ends here instead.
constexpr float kInsteadOfZero = 0.001F;

enum class Variant { bh1, bh2 };  ///< B(h) = h, B(h) = e^h - 1
enum class Corrector { use, skip };

/// One time in the variance-preserving form of the process, x' = alpha x0 + deviation * eps.
struct Time {
    explicit Time(float sigma_)
        : sigma(sigma_),
          log_alpha(0.5F * std::log(1.0F / (sigma * sigma + 1.0F))),
          alpha(std::exp(log_alpha)) {
        const float variance = 1.0F - std::exp(2.0F * log_alpha);
        deviation = std::sqrt(variance);
        lambda = log_alpha - 0.5F * std::log(variance);
    }
    float sigma;
    float log_alpha;
    float alpha;
    float deviation;
    float lambda;  ///< half the log signal-to-noise ratio
};

struct Past {
    Time time;
    at::Tensor estimate;  ///< of the clean latent
};
using History = std::deque<Past>;  // latest first

using Matrix = std::array<std::array<float, kMaxOrder>, kMaxOrder>;
using Vector = std::array<float, kMaxOrder>;

/// Solves the leading n x n part of `a` x = `b` by elimination with row exchanges.
Vector solve(Matrix a, Vector b, std::size_t n) {
    for (std::size_t column = 0; column < n; ++column) {
        std::size_t pivot = column;
        for (std::size_t row = column + 1; row < n; ++row)
            if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
        std::swap(a[pivot], a[column]);
        std::swap(b[pivot], b[column]);
        for (std::size_t row = column + 1; row < n; ++row) {
            const float factor = a[row][column] / a[column][column];
            for (std::size_t k = column; k < n; ++k) a[row][k] -= factor * a[column][k];
            b[row] -= factor * b[column];
        }
    }
    for (std::size_t row = n; row-- > 0;) {
        for (std::size_t k = row + 1; k < n; ++k) b[row] -= a[row][k] * b[k];
        b[row] /= a[row][row];
    }
    return b;
}

/// The linear systems of one step (UniPC, theorem 3.1): `ratios[k]` are the times of the former
/// estimates, in units of the step and counted from its start; the last is the step's end, 1.
struct Coefficients {
    Matrix powers{};
    Vector moments{};
    float phi_1 = 0.0F;  ///< e^-h - 1
    float b_h = 0.0F;

    Coefficients(float h, std::span<const float> ratios, Variant variant) {
        const float negative_h = -h;
        phi_1 = std::expm1(negative_h);
        b_h = variant == Variant::bh1 ? negative_h : phi_1;
        float phi_k = phi_1 / negative_h - 1.0F;
        float factorial = 1.0F;
        for (std::size_t i = 0; i < ratios.size(); ++i) {
            for (std::size_t k = 0; k < ratios.size(); ++k)
                powers[i][k] = std::pow(ratios[k], static_cast<float>(i));
            moments[i] = phi_k * factorial / b_h;
            factorial *= static_cast<float>(i + 2);
            phi_k = phi_k / negative_h - 1.0F / factorial;
        }
    }

    [[nodiscard]] Vector predictor(std::size_t order) const {
        if (order == 2) return {0.5F};  // the published simplification
        return solve(powers, moments, order - 1);
    }
    [[nodiscard]] Vector corrector(std::size_t order) const {
        if (order == 1) return {0.5F};
        return solve(powers, moments, order);
    }
};

at::Tensor weighted(const std::vector<at::Tensor>& differences, const Vector& weights) {
    at::Tensor sum = differences[0] * weights[0];
    for (std::size_t k = 1; k < differences.size(); ++k) sum = sum + differences[k] * weights[k];
    return sum;
}

/// The estimate of the clean latent for `x` in the variance-preserving form.
at::Tensor estimate(const SamplerRun& run, const at::Tensor& x, const Time& time) {
    const at::Tensor exploding = x * std::sqrt(time.sigma * time.sigma + 1.0F);
    const at::Tensor eps = (exploding - run.denoise(exploding, time.sigma)) / time.sigma;
    return (x - time.deviation * eps) / time.alpha;
}

struct Updated {
    at::Tensor x;
    at::Tensor estimate;  ///< at the new time; undefined without corrector
};

/// One step from `history.front()` to `to` by the latest `order` estimates.
Updated update(const SamplerRun& run, const at::Tensor& x, const History& history, const Time& to,
               std::size_t order, Variant variant, Corrector use) {
    const Past& latest = history.front();
    const float h = to.lambda - latest.time.lambda;
    std::vector<float> ratios;
    std::vector<at::Tensor> differences;
    for (std::size_t k = 1; k < order; ++k) {
        const float ratio = (history[k].time.lambda - latest.time.lambda) / h;
        ratios.push_back(ratio);
        differences.push_back((history[k].estimate - latest.estimate) / ratio);
    }
    ratios.push_back(1.0F);
    const Coefficients coefficients(h, ratios, variant);
    const float scale = to.alpha * coefficients.b_h;
    const at::Tensor first_order =
        to.deviation / latest.time.deviation * x - to.alpha * coefficients.phi_1 * latest.estimate;

    at::Tensor predicted = first_order;
    if (!differences.empty())
        predicted = first_order - scale * weighted(differences, coefficients.predictor(order));
    if (use == Corrector::skip) return {.x = predicted, .estimate = {}};

    at::Tensor at_end = estimate(run, predicted, to);
    const Vector weights = coefficients.corrector(order);
    at::Tensor correction = weights[order - 1] * (at_end - latest.estimate);
    if (!differences.empty()) correction = weighted(differences, weights) + correction;
    return {.x = first_order - scale * correction, .estimate = std::move(at_end)};
}

/// Equal neighbours (more steps than the model has sigmas) are steps of no length.
std::vector<Time> distinct_times(const Sigmas& sigmas) {
    std::vector<Time> times;
    for (const float sigma : sigmas)
        if (times.empty() || times.back().sigma != sigma) times.emplace_back(sigma);
    return times;
}

/// Grows while estimates come in, and falls toward the end, where steps in lambda are long.
std::size_t order_at(std::size_t step, std::size_t steps) {
    const std::size_t highest = std::min(kMaxOrder, steps - 1);
    return step < highest ? step : std::min(highest, steps + 1 - step);
}

void remember(History& history, Past latest) {
    history.push_front(std::move(latest));
    if (history.size() > kMaxOrder) history.pop_back();
}

at::Tensor unified(const SamplerRun& run, const at::Tensor& noisy, Variant variant) {
    if (run.steps() == 0) return noisy;
    if (run.sigmas.back() == 0.0F) run.sigmas.back() = kInsteadOfZero;
    const std::vector<Time> times = distinct_times(run.sigmas);
    const std::size_t steps = times.size() - 1;
    at::Tensor x = noisy / std::sqrt(1.0F + times[0].sigma * times[0].sigma);
    if (steps == 0) return x / times.back().alpha;
    History history;
    remember(history, {times[0], estimate(run, x, times[0])});
    run.report(0, x, history.front().estimate);
    // a single step has order 0: it evaluates, but goes nowhere, as in the reference
    for (std::size_t i = 1; i < steps; ++i) {
        const std::size_t order = order_at(i, steps);
        Updated step = update(run, x, history, times[i], order, variant, Corrector::use);
        x = std::move(step.x);
        remember(history, {times[i], std::move(step.estimate)});
        // the last step is not followed by an evaluation
        if (i + 1 == steps)
            x = update(run, x, history, times[steps], 1, variant, Corrector::skip).x;
        run.report(static_cast<int>(i), x, history.front().estimate);
    }
    return x / times.back().alpha;
}

}  // namespace

at::Tensor uni_pc(const SamplerRun& run, at::Tensor x) { return unified(run, x, Variant::bh1); }
at::Tensor uni_pc_bh2(const SamplerRun& run, at::Tensor x) { return unified(run, x, Variant::bh2); }

}  // namespace ballast::runtime::sampling
