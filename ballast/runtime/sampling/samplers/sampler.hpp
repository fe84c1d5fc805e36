#pragma once
// How a run gets from noise to picture: the solvers, by name.

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <string_view>

#include "ballast/runtime/sampling/model_sampling.hpp"
#include "ballast/runtime/sampling/noise.hpp"
#include "ballast/runtime/sampling/schedules/schedule.hpp"

namespace ballast::runtime::sampling {

/// The clean latent that model and guidance see in a noisy one.
class Denoiser {
public:
    Denoiser() = default;
    Denoiser(const Denoiser&) = delete;
    Denoiser& operator=(const Denoiser&) = delete;
    virtual ~Denoiser() = default;
    virtual at::Tensor operator()(const at::Tensor& x, float sigma) = 0;
};

/// One finished evaluation, for progress bars and previews.
struct Step {
    int index = 0;        ///< from 0
    int total = 0;        ///< steps of the schedule
    const at::Tensor& x;  ///< what the step started from
    const at::Tensor& denoised;
};
using OnStep = std::function<void(const Step&)>;

/// What a solver works with. `sigmas` has at least two values; a solver may change it (uni_pc
/// replaces a final 0), and the last value is what the result is unscaled by.
struct SamplerRun {
    Denoiser& denoise;
    const ModelSampling& sampling;
    Sigmas& sigmas;
    StepNoise& noise;
    const OnStep& on_step;  ///< may be empty

    [[nodiscard]] int steps() const { return static_cast<int>(sigmas.size()) - 1; }
    void report(int index, const at::Tensor& x, const at::Tensor& denoised) const {
        if (on_step) on_step({.index = index, .total = steps(), .x = x, .denoised = denoised});
    }

    /// How every step of most solvers begins: the clean latent seen from its first sigma, reported.
    struct Evaluation {
        float from;
        float to;
        at::Tensor denoised;
    };
    [[nodiscard]] Evaluation evaluate(int index, const at::Tensor& x) const {
        const auto at = static_cast<std::size_t>(index);
        Evaluation evaluation{sigmas[at], sigmas[at + 1], denoise(x, sigmas[at])};
        report(index, x, evaluation.denoised);
        return evaluation;
    }
};

/// Takes the noisy latent and returns the latent at the schedule's end.
using Sampler = at::Tensor (*)(const SamplerRun&, at::Tensor x);

/// The noise that an inpainting run keeps outside its mask.
enum class InpaintNoise { initial, fresh };

struct SamplerRow {
    std::string_view name;
    Sampler run = nullptr;  ///< null: known, but not available yet
    InpaintNoise inpaint_noise = InpaintNoise::initial;
};

/// All names that workflows may use, in the order in which they are offered.
std::span<const SamplerRow> samplers();

/// The row of a name; the first (euler) for a name that is unknown, as in the reference. Throws
/// `Failure` (`not_available`, listing those that are) for samplers that are not ported yet.
const SamplerRow& sampler_of(std::string_view name);

// The solvers, one file per family.
at::Tensor euler(const SamplerRun& run, at::Tensor x);
at::Tensor euler_ancestral(const SamplerRun& run, at::Tensor x);
at::Tensor heun(const SamplerRun& run, at::Tensor x);
at::Tensor dpm_2(const SamplerRun& run, at::Tensor x);
at::Tensor dpm_2_ancestral(const SamplerRun& run, at::Tensor x);
at::Tensor lms(const SamplerRun& run, at::Tensor x);
at::Tensor dpmpp_2s_ancestral(const SamplerRun& run, at::Tensor x);
at::Tensor dpmpp_2m(const SamplerRun& run, at::Tensor x);
at::Tensor ddpm(const SamplerRun& run, at::Tensor x);
at::Tensor lcm(const SamplerRun& run, at::Tensor x);
at::Tensor uni_pc(const SamplerRun& run, at::Tensor x);
at::Tensor uni_pc_bh2(const SamplerRun& run, at::Tensor x);

}  // namespace ballast::runtime::sampling
