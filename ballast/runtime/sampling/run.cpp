#include "ballast/runtime/sampling/run.hpp"

#include <algorithm>
#include <cmath>

#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::sampling {
namespace {

void check(const Sigmas& sigmas) {
    const bool is_usable = std::all_of(sigmas.begin(), sigmas.end(), [](float sigma) {
        return std::isfinite(sigma) && sigma >= 0.0F;
    });
    // a zero inside would be divided by
    const bool has_early_zero =
        sigmas.size() > 1 && std::find(sigmas.begin(), sigmas.end() - 1, 0.0F) != sigmas.end() - 1;
    if (is_usable && !has_early_zero) return;
    throw Failure(Error{.code = Code::bad_value,
                        .what = "cannot sample",
                        .why = is_usable ? "the schedule has a zero before its end"
                                         : "the schedule has a value that is not a noise level",
                        .place = {.key = "sigmas"},
                        .hint = "use another scheduler or number of steps"});
}

void check_noise(const at::Tensor& noise, at::IntArrayRef shape) {
    if (noise.defined() && noise.sizes().equals(shape)) return;
    throw Failure(Error{.code = Code::bad_value,
                        .what = "cannot sample",
                        .why = "the noise has another shape than the latent",
                        .place = {.key = "noise"},
                        .hint = "make the noise for this latent"});
}

/// Remembers the last estimate beside reporting it.
class LastEstimate {
public:
    explicit LastEstimate(const OnStep& on_step)
        : observer_([this, &on_step](const Step& step) {
              last_ = step.denoised;
              if (on_step) on_step(step);
          }) {}
    [[nodiscard]] const OnStep& observer() const { return observer_; }
    [[nodiscard]] const at::Tensor& value() const { return last_; }

private:
    at::Tensor last_;
    OnStep observer_;
};

}  // namespace

SamplingResult run_sampling(const SamplingRequest& request, const ModelSampling& sampling,
                            DiffusionNetwork& network, const SamplingHooks& hooks) {
    const auto& row = sampler_of(request.sampler);
    const auto latent =
        with_channels(request.latent.samples, request.format.channels).to(at::kFloat);
    if (request.sigmas.empty()) return {.samples = latent, .denoised = latent};
    check(request.sigmas);

    // nothing to map where there is nothing: a shift would make something of it
    const auto start = is_blank(latent) ? latent : request.format.to_model(latent);
    const auto shape = latent.sizes();
    check_noise(request.noise, shape);
    GuidedDenoiser guided({.network = &network,
                           .sampling = sampling,
                           .fits = hooks.fits,
                           .before = hooks.before,
                           .after = hooks.after},
                          prepare(request.positive, request.negative, sampling, shape),
                          request.cfg);
    Denoiser* denoiser = &guided;

    std::optional<InpaintingDenoiser> inpainting;
    if (request.latent.noise_mask.defined()) {
        const auto noise = row.inpaint_noise == InpaintNoise::fresh
                               ? initial_noise(shape, request.seed + 1)
                               : request.noise;
        inpainting.emplace(guided, sampling, latent_mask(request.latent.noise_mask, shape), start,
                           noise);
        denoiser = &*inpainting;
    }

    auto sigmas = request.sigmas;
    const auto x =
        sampling.noised(sigmas.front(), request.noise, start, sampling.start_from(sigmas.front()));
    StepNoise step_noise(latent, request.seed);
    const LastEstimate last(hooks.on_step);
    const auto end = row.run({.denoise = *denoiser,
                              .sampling = sampling,
                              .sigmas = sigmas,
                              .noise = step_noise,
                              .on_step = last.observer()},
                             x);
    SamplingResult result;
    result.samples = request.format.from_model(sampling.unscaled(sigmas.back(), end));
    result.denoised =
        last.value().defined() ? request.format.from_model(last.value()) : result.samples;
    return result;
}

}  // namespace ballast::runtime::sampling
