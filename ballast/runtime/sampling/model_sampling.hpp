#pragma once
// What a model predicts and how it counts noise: everything that samplers and schedules must know
// about a model. A value; a node replaces it to run the same weights under another rule.

#include <ATen/core/Tensor.h>

#include <span>

#include "ballast/runtime/sampling/sigma_family.hpp"

namespace ballast::runtime::sampling {

/// What the network's output means.
enum class Prediction {
    eps,         ///< the noise
    v,           ///< velocity: Salimans & Ho, "Progressive Distillation", appendix D
    x0,          ///< the clean latent
    img_to_img,  ///< the clean latent, from an input that is not scaled
    lcm,         ///< the noise, with the boundary condition of latent consistency models
    flow,        ///< the slope of the straight path from latent to noise
};

/// Whether a run starts from nothing but noise.
enum class StartFrom { latent, pure_noise };

/// Cheap to copy, immutable, safe to share between threads.
class ModelSampling {
public:
    /// `family` has a table of at least two sigmas; anything else is a fault of ours (`internal`).
    ModelSampling(Prediction prediction, SigmaFamilyPtr family);

    [[nodiscard]] Prediction prediction() const { return prediction_; }
    /// Rectified flow: noise replaces the latent instead of being added to it.
    [[nodiscard]] bool is_flow() const { return prediction_ == Prediction::flow; }

    [[nodiscard]] std::span<const float> sigmas() const { return family_->table(); }
    [[nodiscard]] float sigma_min() const { return family_->table().front(); }
    [[nodiscard]] float sigma_max() const { return family_->table().back(); }
    [[nodiscard]] float timestep(float sigma) const { return family_->timestep(sigma); }
    [[nodiscard]] float sigma(float timestep) const { return family_->sigma(timestep); }
    [[nodiscard]] double sigma_of_percent(double percent) const {
        return family_->sigma_of_percent(percent);
    }

    /// A schedule from here on starts from nothing but noise: it reaches the largest sigma (up to
    /// 1e-5, relative).
    [[nodiscard]] StartFrom start_from(float first_sigma) const;

    /// The noisy latent as the network wants it.
    [[nodiscard]] at::Tensor network_input(float sigma, const at::Tensor& x) const;
    /// The clean latent that `output` implies; `x` is the noisy latent, unscaled.
    [[nodiscard]] at::Tensor denoised(float sigma, const at::Tensor& output,
                                      const at::Tensor& x) const;
    /// `latent` with `noise` (standard normal) of strength `sigma`.
    [[nodiscard]] at::Tensor noised(float sigma, const at::Tensor& noise, const at::Tensor& latent,
                                    StartFrom start = StartFrom::latent) const;
    /// The latent that a run which ended at `sigma` returns. Throws `Failure` (`bad_value`) for a
    /// flow that ended at 1: there is nothing but noise left.
    [[nodiscard]] at::Tensor unscaled(float sigma, const at::Tensor& x) const;

private:
    Prediction prediction_;
    SigmaFamilyPtr family_;
};

/// Stable Diffusion 1.x as trained: eps over the discrete table.
ModelSampling sd1_sampling();

}  // namespace ballast::runtime::sampling
