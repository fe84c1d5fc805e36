// The sampler nodes that do everything in one place, and the node that changes a model's sampling.

#include <array>

#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/sampling_run.hpp"
#include "ballast/runtime/sampling/schedules/step_selection.hpp"

namespace ballast::runtime::nodes {
namespace {

Guider guider_of(const graph::NodeCall& call) {
    return {.model = input<ModelValue>(call, "model"),
            .positive = input<ConditioningValue>(call, "positive"),
            .negative = input<ConditioningValue>(call, "negative"),
            .cfg = call.number("cfg")};
}

graph::NodeResult latent_result(sampling::Latent latent) {
    return outputs(std::make_shared<LatentValue>(std::move(latent)));
}

graph::NodeResult ksampler(const Context& context, const graph::NodeCall& call) {
    SamplerTask task{.guider = guider_of(call),
                     .sampler = call.text("sampler_name"),
                     .sigmas = {},
                     .noise = {.seed = call.seed("seed")},
                     .seed = call.seed("seed")};
    task.sigmas = sampling::ksampler_schedule(
        task.guider.model.sampling, task.sampler, sampling::scheduler_of(call.text("scheduler")),
        static_cast<int>(call.integer("steps")), call.number("denoise"));
    return latent_result(sample(context, task, input<LatentValue>(call, "latent_image")).samples);
}

graph::NodeResult ksampler_advanced(const Context& context, const graph::NodeCall& call) {
    const auto seed = call.seed("noise_seed");
    SamplerTask task{.guider = guider_of(call),
                     .sampler = call.text("sampler_name"),
                     .sigmas = {},
                     .noise = {},
                     .seed = seed};
    if (call.text("add_noise") == "enable") task.noise.seed = seed;
    const auto leftover = call.text("return_with_leftover_noise") == "enable"
                              ? sampling::LeftoverNoise::keep
                              : sampling::LeftoverNoise::remove;
    task.sigmas = sampling::step_range(
        sampling::ksampler_schedule(task.guider.model.sampling, task.sampler,
                                    sampling::scheduler_of(call.text("scheduler")),
                                    static_cast<int>(call.integer("steps"))),
        static_cast<int>(call.integer("start_at_step")),
        static_cast<int>(call.integer("end_at_step")), leftover);
    return latent_result(sample(context, task, input<LatentValue>(call, "latent_image")).samples);
}

sampling::Prediction prediction_of(const std::string& name) {
    using sampling::Prediction;
    if (name == "v_prediction") return Prediction::v;
    if (name == "x0") return Prediction::x0;
    if (name == "img_to_img") return Prediction::img_to_img;
    if (name == "lcm") return Prediction::lcm;
    return Prediction::eps;
}

graph::NodeResult model_sampling_discrete(const Context&, const graph::NodeCall& call) {
    auto model = input<ModelValue>(call, "model");
    const auto prediction = prediction_of(call.text("sampling"));
    const auto terminal =
        call.flag("zsnr") ? sampling::TerminalSnr::zero : sampling::TerminalSnr::as_trained;
    auto family = prediction == sampling::Prediction::lcm ? sampling::distilled_sigmas({}, terminal)
                                                          : sampling::discrete_sigmas({}, terminal);
    model.sampling = sampling::ModelSampling(prediction, std::move(family));
    return outputs(std::make_shared<ModelValue>(std::move(model)));
}

constexpr std::array kNodes{
    ImplementationRow{"KSampler", &ksampler},
    ImplementationRow{"KSamplerAdvanced", &ksampler_advanced},
    ImplementationRow{"ModelSamplingDiscrete", &model_sampling_discrete},
};

}  // namespace

std::span<const ImplementationRow> sampling_nodes() { return kNodes; }

}  // namespace ballast::runtime::nodes
