// Sampling taken apart: noise, guider, sampler and schedule as nodes of their own.

#include <array>

#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/sampling_run.hpp"
#include "ballast/runtime/sampling/schedules/step_selection.hpp"

namespace ballast::runtime::nodes {
namespace {

graph::NodeResult both(SampledLatents latents) {
    return outputs(std::make_shared<LatentValue>(std::move(latents.samples)),
                   std::make_shared<LatentValue>(std::move(latents.denoised)));
}

graph::NodeResult sigmas_result(sampling::Sigmas sigmas) {
    return outputs(std::make_shared<SigmasValue>(std::move(sigmas)));
}

graph::NodeResult sampler_custom(const Context& context, const graph::NodeCall& call) {
    const auto seed = call.seed("noise_seed");
    SamplerTask task{.guider = {.model = input<ModelValue>(call, "model"),
                                .positive = input<ConditioningValue>(call, "positive"),
                                .negative = input<ConditioningValue>(call, "negative"),
                                .cfg = call.number("cfg")},
                     .sampler = input<SamplerValue>(call, "sampler").name,
                     .sigmas = input<SigmasValue>(call, "sigmas"),
                     .noise = {},
                     .seed = seed};
    if (call.flag("add_noise")) task.noise.seed = seed;
    return both(sample(context, task, input<LatentValue>(call, "latent_image")));
}

graph::NodeResult sampler_custom_advanced(const Context& context, const graph::NodeCall& call) {
    const auto& noise = input<NoiseValue>(call, "noise");
    const SamplerTask task{.guider = input<GuiderValue>(call, "guider"),
                           .sampler = input<SamplerValue>(call, "sampler").name,
                           .sigmas = input<SigmasValue>(call, "sigmas"),
                           .noise = noise,
                           .seed = noise.seed.value_or(0)};
    return both(sample(context, task, input<LatentValue>(call, "latent_image")));
}

graph::NodeResult random_noise(const Context&, const graph::NodeCall& call) {
    return outputs(std::make_shared<NoiseValue>(Noise{.seed = call.seed("noise_seed")}));
}

graph::NodeResult disable_noise(const Context&, const graph::NodeCall&) {
    return outputs(std::make_shared<NoiseValue>(Noise{}));
}

graph::NodeResult basic_guider(const Context&, const graph::NodeCall& call) {
    return outputs(std::make_shared<GuiderValue>(
        Guider{.model = input<ModelValue>(call, "model"),
               .positive = input<ConditioningValue>(call, "conditioning"),
               .negative = std::nullopt,
               .cfg = 1.0}));
}

graph::NodeResult cfg_guider(const Context&, const graph::NodeCall& call) {
    return outputs(
        std::make_shared<GuiderValue>(Guider{.model = input<ModelValue>(call, "model"),
                                             .positive = input<ConditioningValue>(call, "positive"),
                                             .negative = input<ConditioningValue>(call, "negative"),
                                             .cfg = call.number("cfg")}));
}

graph::NodeResult select_sampler(const Context&, const graph::NodeCall& call) {
    return outputs(std::make_shared<SamplerValue>(SamplerName{call.text("sampler_name")}));
}

graph::NodeResult basic_scheduler(const Context&, const graph::NodeCall& call) {
    return sigmas_result(sampling::basic_schedule(
        input<ModelValue>(call, "model").sampling, sampling::scheduler_of(call.text("scheduler")),
        static_cast<int>(call.integer("steps")), call.number("denoise")));
}

graph::NodeResult karras_scheduler(const Context&, const graph::NodeCall& call) {
    return sigmas_result(sampling::karras_schedule(static_cast<int>(call.integer("steps")),
                                                   call.number("sigma_min"),
                                                   call.number("sigma_max"), call.number("rho")));
}

graph::NodeResult exponential_scheduler(const Context&, const graph::NodeCall& call) {
    return sigmas_result(sampling::exponential_schedule(static_cast<int>(call.integer("steps")),
                                                        call.number("sigma_min"),
                                                        call.number("sigma_max")));
}

graph::NodeResult split(const Context&, const graph::NodeCall& call) {
    auto [high, low] = sampling::split_sigmas(input<SigmasValue>(call, "sigmas"),
                                              static_cast<int>(call.integer("step")));
    return outputs(std::make_shared<SigmasValue>(std::move(high)),
                   std::make_shared<SigmasValue>(std::move(low)));
}

graph::NodeResult flip(const Context&, const graph::NodeCall& call) {
    return sigmas_result(sampling::flip_sigmas(input<SigmasValue>(call, "sigmas")));
}

constexpr std::array kNodes{
    ImplementationRow{"SamplerCustom", &sampler_custom},
    ImplementationRow{"SamplerCustomAdvanced", &sampler_custom_advanced},
    ImplementationRow{"RandomNoise", &random_noise},
    ImplementationRow{"DisableNoise", &disable_noise},
    ImplementationRow{"BasicGuider", &basic_guider},
    ImplementationRow{"CFGGuider", &cfg_guider},
    ImplementationRow{"KSamplerSelect", &select_sampler},
    ImplementationRow{"BasicScheduler", &basic_scheduler},
    ImplementationRow{"KarrasScheduler", &karras_scheduler},
    ImplementationRow{"ExponentialScheduler", &exponential_scheduler},
    ImplementationRow{"SplitSigmas", &split},
    ImplementationRow{"FlipSigmas", &flip},
};

}  // namespace

std::span<const ImplementationRow> custom_sampling_nodes() { return kNodes; }

}  // namespace ballast::runtime::nodes
