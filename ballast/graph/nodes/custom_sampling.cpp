// Sampling from parts: noise, guider, sampler, sigmas.

#include "ballast/graph/nodes/families.hpp"
#include "ballast/graph/nodes/sampler_fields.hpp"

namespace ballast::graph::nodes {

namespace {

InputDeclaration sigma(std::string name, double default_value) {
    return {.name = std::move(name),
            .field = NumberField{
                .default_value = default_value, .max = 5000.0, .round = {Rounding::Kind::off, 0}}};
}

/// All of this family come from one module of the original and are of its newer kind.
NodeDeclaration node(std::string class_type, std::string category,
                     std::vector<InputDeclaration> inputs, std::vector<OutputDeclaration> outputs) {
    return {.class_type = std::move(class_type),
            .category = "sampling/custom_sampling" + std::move(category),
            .module = "comfy_extras.nodes_custom_sampler",
            .generation = Generation::schema,
            .inputs = std::move(inputs),
            .outputs = std::move(outputs)};
}

std::vector<OutputDeclaration> two_latents() {
    return {{.type = "LATENT", .name = "output"}, {.type = "LATENT", .name = "denoised_output"}};
}

}  // namespace

std::vector<NodeDeclaration> custom_sampling() {
    return {
        node("SamplerCustom", "",
             {link("model", "MODEL"),
              {.name = "add_noise", .field = ToggleField{true}},
              seed("noise_seed"),
              cfg(),
              link("positive", "CONDITIONING"),
              link("negative", "CONDITIONING"),
              link("sampler", "SAMPLER"),
              link("sigmas", "SIGMAS"),
              link("latent_image", "LATENT")},
             two_latents()),
        node("SamplerCustomAdvanced", "",
             {link("noise", "NOISE"), link("guider", "GUIDER"), link("sampler", "SAMPLER"),
              link("sigmas", "SIGMAS"), link("latent_image", "LATENT")},
             two_latents()),
        node("RandomNoise", "/noise", {seed("noise_seed")}, {{.type = "NOISE"}}),
        node("DisableNoise", "/noise", {}, {{.type = "NOISE"}}),
        node("BasicGuider", "/guiders",
             {link("model", "MODEL"), link("conditioning", "CONDITIONING")}, {{.type = "GUIDER"}}),
        node("CFGGuider", "/guiders",
             {link("model", "MODEL"), link("positive", "CONDITIONING"),
              link("negative", "CONDITIONING"), cfg()},
             {{.type = "GUIDER"}}),
        node("KSamplerSelect", "/samplers", {sampler_name()}, {{.type = "SAMPLER"}}),
        node("BasicScheduler", "/schedulers",
             {link("model", "MODEL"), choice("scheduler", scheduler_names()), steps(), denoise()},
             {{.type = "SIGMAS"}}),
        node("KarrasScheduler", "/schedulers",
             {steps(),
              sigma("sigma_max", 14.614642),
              sigma("sigma_min", 0.0291675),
              {.name = "rho",
               .field =
                   NumberField{
                       .default_value = 7.0, .max = 100.0, .round = {Rounding::Kind::off, 0}}}},
             {{.type = "SIGMAS"}}),
        node("ExponentialScheduler", "/schedulers",
             {steps(), sigma("sigma_max", 14.614642), sigma("sigma_min", 0.0291675)},
             {{.type = "SIGMAS"}}),
        node("SplitSigmas", "/sigmas", {link("sigmas", "SIGMAS"), step_number("step", 0)},
             {{.type = "SIGMAS", .name = "high_sigmas"}, {.type = "SIGMAS", .name = "low_sigmas"}}),
        node("FlipSigmas", "/sigmas", {link("sigmas", "SIGMAS")}, {{.type = "SIGMAS"}}),
    };
}

}  // namespace ballast::graph::nodes
