// UniPC: Zhao et al., "UniPC: A Unified Predictor-Corrector Framework for Fast Sampling of Diffusion
// Models", 2023, with data prediction, B(h) = h (uni_pc) or e^h - 1 (uni_pc_bh2).
//
// Works in the variance-preserving scaling for every family of models: alpha = 1/sqrt(1 + sigma^2).

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

#include "ballast/runtime/sampling/samplers/sampler.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"

namespace ballast::runtime::sampling {
namespace {

constexpr int kMaxOrder = 3;
constexpr float kFinalSigma = 0.001F;

enum class Basis { h, expm1 };

double alpha(double sigma) { return 1.0 / std::sqrt(1.0 + sigma * sigma); }
double lambda(double sigma) { return -std::log(sigma); }

/// Solves the small dense system a x = b by elimination with pivoting.
std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
    const auto n = b.size();
    for (std::size_t column = 0; column < n; ++column) {
        auto pivot = column;
        for (auto row = column + 1; row < n; ++row)
            if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
        std::swap(a[column], a[pivot]);
        std::swap(b[column], b[pivot]);
        for (auto row = column + 1; row < n; ++row) {
            const double factor = a[row][column] / a[column][column];
            for (auto k = column; k < n; ++k) a[row][k] -= factor * a[column][k];
            b[row] -= factor * b[column];
        }
    }
    for (std::size_t row = n; row-- > 0;) {
        for (auto k = row + 1; k < n; ++k) b[row] -= a[row][k] * b[k];
        b[row] /= a[row][row];
    }
    return b;
}

struct Evaluation {
    double sigma;
    at::Tensor denoised;
};

class Solver {
public:
    Solver(const SamplerRun& run, Basis basis) : run_(&run), basis_(basis) {}

    /// x and result in the variance-preserving scaling.
    at::Tensor sample(at::Tensor x) {
        const int steps = run_->steps();
        const int order = std::min(kMaxOrder, steps - 1);
        for (int i = 0; i < steps; ++i) {
            if (i == 0) {
                remember(evaluate(x, sigma(0)));
            } else {
                x = advance(x, sigma(i), std::min({i, order, steps + 1 - i}), true);
                if (i == steps - 1 && i >= order) x = advance(x, sigma(steps), 1, false);
            }
            run_->report(i, x, history_.front().denoised);
        }
        return x;
    }

private:
    [[nodiscard]] double sigma(int i) const { return run_->sigmas[static_cast<std::size_t>(i)]; }

    Evaluation evaluate(const at::Tensor& x, double at_sigma) {
        const auto scaled = x / static_cast<float>(alpha(at_sigma));
        return {at_sigma, run_->denoise(scaled, static_cast<float>(at_sigma))};
    }

    void remember(Evaluation evaluation) {
        history_.push_front(std::move(evaluation));
        if (history_.size() > kMaxOrder) history_.pop_back();
    }

    /// One predictor step to sigma `to`, then a corrector step if asked, which costs the evaluation
    /// that the next step starts from.
    at::Tensor advance(const at::Tensor& x, double to, int order, bool correct) {
        const auto& last = history_.front();
        const double h = lambda(to) - lambda(last.sigma);
        const auto std_of = [](double s) { return s * alpha(s); };

        std::vector<double> ratios;
        std::vector<at::Tensor> differences;
        for (int i = 1; i < order; ++i) {
            const auto& former = history_[static_cast<std::size_t>(i)];
            const double ratio = (lambda(former.sigma) - lambda(last.sigma)) / h;
            ratios.push_back(ratio);
            differences.push_back((former.denoised - last.denoised) / static_cast<float>(ratio));
        }
        ratios.push_back(1.0);

        const double phi1 = std::expm1(-h);
        const double basis = basis_ == Basis::h ? -h : phi1;
        std::vector<std::vector<double>> matrix;
        std::vector<double> right;
        double phi = phi1 / -h - 1.0;
        double factorial = 1.0;
        for (int i = 1; i <= order; ++i) {
            auto& row = matrix.emplace_back();
            for (const double ratio : ratios) row.push_back(std::pow(ratio, i - 1));
            right.push_back(phi * factorial / basis);
            factorial *= i + 1;
            phi = phi / -h - 1.0 / factorial;
        }

        const auto base = static_cast<float>(std_of(to) / std_of(last.sigma)) * x -
                          static_cast<float>(alpha(to) * phi1) * last.denoised;
        const auto scale = static_cast<float>(alpha(to) * basis);
        auto next = base;
        if (!differences.empty()) {
            std::vector<double> weights{0.5};
            if (order > 2) {
                auto inner = matrix;
                inner.pop_back();
                for (auto& row : inner) row.pop_back();
                weights = solve(inner, {right.begin(), right.end() - 1});
            }
            next = base - scale * weighted(weights, differences);
        }
        if (!correct) return next;

        auto evaluation = evaluate(next, to);
        const auto weights = order == 1 ? std::vector<double>{0.5} : solve(matrix, right);
        auto correction =
            (evaluation.denoised - last.denoised) * static_cast<float>(weights.back());
        if (!differences.empty()) correction = correction + weighted(weights, differences);
        next = base - scale * correction;
        remember(std::move(evaluation));
        return next;
    }

    static at::Tensor weighted(const std::vector<double>& weights,
                               const std::vector<at::Tensor>& terms) {
        at::Tensor sum = terms[0] * static_cast<float>(weights[0]);
        for (std::size_t i = 1; i < terms.size(); ++i)
            sum = sum + terms[i] * static_cast<float>(weights[i]);
        return sum;
    }

    const SamplerRun* run_;
    Basis basis_;
    std::deque<Evaluation> history_;  // newest first
};

at::Tensor solve_with(const SamplerRun& run, const at::Tensor& x, Basis basis) {
    if (run.sigmas.back() == 0.0F) run.sigmas.back() = kFinalSigma;
    const auto start = static_cast<float>(alpha(run.sigmas.front()));
    const auto end = static_cast<float>(alpha(run.sigmas.back()));
    return Solver(run, basis).sample(x * start) / end;
}

}  // namespace

at::Tensor uni_pc(const SamplerRun& run, at::Tensor x) { return solve_with(run, x, Basis::h); }

at::Tensor uni_pc_bh2(const SamplerRun& run, at::Tensor x) {
    return solve_with(run, x, Basis::expm1);
}

}  // namespace ballast::runtime::sampling
