#include "ballast/runtime/sampling/model_sampling.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ballast/runtime/tensor/arithmetic.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime::sampling {

namespace {

constexpr double kPureNoiseTolerance = 1e-5;

/// Standard deviation of the data that v and eps models assume.
constexpr float kDataVariance = 1.0F;

/// The same for the boundary condition of consistency models, and their scale of time.
constexpr float kConsistencyVariance = 0.25F;
constexpr float kConsistencyTimeScale = 10.0F;

float total_variance(float sigma) { return sigma * sigma + kDataVariance; }

at::Tensor consistent(float timestep, float sigma, const at::Tensor& output, const at::Tensor& x) {
    const at::Tensor x0 = x - output * sigma;
    const float scaled = timestep * kConsistencyTimeScale;
    const float variance = scaled * scaled + kConsistencyVariance;
    const float keep = kConsistencyVariance / variance;
    const float change = scaled / std::sqrt(variance);
    return change * x0 + keep * x;
}

}  // namespace

ModelSampling::ModelSampling(Prediction prediction, SigmaFamilyPtr family)
    : prediction_(prediction), family_(std::move(family)) {
    if (!family_ || family_->table().size() < 2)
        throw Failure({.code = Code::internal,
                       .what = "cannot describe the model's noise levels",
                       .why = "a table of at least two sigmas is needed"});
}

StartFrom ModelSampling::start_from(float first_sigma) const {
    const double first = first_sigma;
    const double largest = sigma_max();
    const bool is_close =
        std::abs(first - largest) <= kPureNoiseTolerance * std::max(first, largest);
    return first > largest || is_close ? StartFrom::pure_noise : StartFrom::latent;
}

at::Tensor ModelSampling::network_input(float sigma, const at::Tensor& x) const {
    switch (prediction_) {
        case Prediction::eps:
        case Prediction::v:
        case Prediction::x0:
        case Prediction::lcm: return x / std::sqrt(total_variance(sigma));
        case Prediction::img_to_img:
        case Prediction::flow: break;
    }
    return x;
}

at::Tensor ModelSampling::denoised(float sigma, const at::Tensor& output,
                                   const at::Tensor& x) const {
    switch (prediction_) {
        case Prediction::eps:
        case Prediction::flow: return x - output * sigma;
        case Prediction::v: {
            const float variance = total_variance(sigma);
            return x * kDataVariance / variance - output * sigma / std::sqrt(variance);
        }
        case Prediction::lcm: return consistent(timestep(sigma), sigma, output, x);
        case Prediction::x0:
        case Prediction::img_to_img: break;
    }
    return output;
}

at::Tensor ModelSampling::noised(float sigma, const at::Tensor& noise, const at::Tensor& latent,
                                 StartFrom start) const {
    if (is_flow()) return sigma * noise + (1.0F - sigma) * latent;
    const float scale = start == StartFrom::pure_noise ? std::sqrt(1.0F + sigma * sigma) : sigma;
    return noise * scale + latent;
}

at::Tensor ModelSampling::unscaled(float sigma, const at::Tensor& x) const {
    if (!is_flow()) return x;
    if (sigma == 1.0F)
        throw Failure({.code = Code::bad_value,
                       .what = "cannot return the latent",
                       .why = "the schedule ends at sigma 1, where a flow model has only noise",
                       .hint = "let the schedule go on to a smaller sigma"});
    return x / (1.0F - sigma);
}

ModelSampling sd1_sampling() {
    return ModelSampling(Prediction::eps, discrete_sigmas({}, TerminalSnr::as_trained));
}

}  // namespace ballast::runtime::sampling
