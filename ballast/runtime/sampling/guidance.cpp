#include "ballast/runtime/sampling/guidance.hpp"

#include <algorithm>
#include <cmath>

#include "ballast/runtime/tensor/arithmetic.hpp"

namespace ballast::runtime::sampling {
namespace {

bool is_one(double scale) { return std::abs(scale - 1.0) <= 1e-9 * std::max(std::abs(scale), 1.0); }

}  // namespace

at::Tensor GuidedDenoiser::operator()(const at::Tensor& x, float sigma) {
    const bool skips = is_one(scale_) || !conditioning_.negative;
    const auto sides = predictor_.predict(conditioning_, x, sigma,
                                          skips ? NegativeSide::skip : NegativeSide::evaluate);
    if (skips) return sides.positive;
    return sides.negative + (sides.positive - sides.negative) * static_cast<float>(scale_);
}

at::Tensor InpaintingDenoiser::operator()(const at::Tensor& x, float sigma) {
    const auto keep = mask_.mul(-1.0).add(1.0);
    const auto seen = x * mask_ + sampling_->noised(sigma, noise_, latent_) * keep;
    return (*inner_)(seen, sigma) * mask_ + latent_ * keep;
}

}  // namespace ballast::runtime::sampling
