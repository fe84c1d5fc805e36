#pragma once
// Classifier-free guidance and inpainting, as denoisers around the network.

#include <cstdint>

#include "ballast/runtime/sampling/conditioning/prediction.hpp"
#include "ballast/runtime/sampling/samplers/sampler.hpp"

namespace ballast::runtime::sampling {

/// Ho & Salimans, "Classifier-Free Diffusion Guidance", 2022:
/// denoised = negative + (positive - negative) * scale. At a scale of 1 (up to 1e-9, relative) the
/// negative side is not evaluated.
class GuidedDenoiser final : public Denoiser {
public:
    GuidedDenoiser(Predictor predictor, PreparedConditioning conditioning, double scale)
        : predictor_(std::move(predictor)), conditioning_(std::move(conditioning)), scale_(scale) {}

    at::Tensor operator()(const at::Tensor& x, float sigma) override;

private:
    Predictor predictor_;
    PreparedConditioning conditioning_;
    double scale_;
};

/// Keeps what lies outside a mask: there, the network sees the original latent with noise, and the
/// result is the original latent.
class InpaintingDenoiser final : public Denoiser {
public:
    /// `mask` [B, 1, h, w], 1 = change; `latent` in the model's space; both like `noise`.
    InpaintingDenoiser(Denoiser& inner, const ModelSampling& sampling, at::Tensor mask,
                       at::Tensor latent, at::Tensor noise)
        : inner_(&inner),
          sampling_(&sampling),
          mask_(std::move(mask)),
          latent_(std::move(latent)),
          noise_(std::move(noise)) {}

    at::Tensor operator()(const at::Tensor& x, float sigma) override;

private:
    Denoiser* inner_;
    const ModelSampling* sampling_;
    at::Tensor mask_;
    at::Tensor latent_;
    at::Tensor noise_;
};

}  // namespace ballast::runtime::sampling
