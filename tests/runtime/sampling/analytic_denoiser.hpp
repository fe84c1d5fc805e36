#pragma once
// The closed-form denoiser that the golden samplers were recorded with.

#include <array>
#include <vector>

#include "ballast/runtime/sampling/samplers/sampler.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::testing {

/// The exact denoiser of a Gaussian (mean per channel, variance 1/4), bent by a sine. Counts its
/// calls.
class AnalyticDenoiser final : public runtime::sampling::Denoiser {
public:
    enum class Family { usual, flow };
    explicit AnalyticDenoiser(Family family) : family_(family) {}

    at::Tensor operator()(const at::Tensor& x, float sigma) override {
        using namespace runtime;  // operators
        sigmas.push_back(sigma);
        const auto bend = ops::sin(x / (1.0F + sigma)) * 0.05F;
        if (family_ == Family::usual) {
            const float variance = kVariance + sigma * sigma;
            return (x * kVariance + mean_ * (sigma * sigma)) / variance + bend;
        }
        const float a = 1.0F - sigma;
        const float gain = a * kVariance / (a * a * kVariance + sigma * sigma);
        return mean_ + (x - mean_ * a) * gain + bend;
    }

    std::vector<float> sigmas;  ///< of the calls so far

private:
    static constexpr float kVariance = 0.25F;
    Family family_;
    at::Tensor mean_ = runtime::ops::from_floats({0.3F, -0.2F, 0.1F, 0.0F}).view({1, 4, 1, 1});
};

}  // namespace ballast::testing
