// The samplers that come as one node.

#include "ballast/graph/nodes/families.hpp"
#include "ballast/graph/nodes/sampler_fields.hpp"

namespace ballast::graph::nodes {

std::vector<NodeDeclaration> sampling() {
    return {
        {.class_type = "KSampler",
         .display_name = "KSampler",
         .category = "sampling",
         .description = "Removes the noise from latents step by step, guided by two conditionings.",
         .inputs = {link("model", "MODEL", "The diffusion model."),
                    seed("seed", "Start of the random sequence that makes the noise."),
                    steps("How many steps to take."),
                    cfg("Guidance scale: how closely to follow the prompt. At 1 the negative "
                        "side has no effect."),
                    sampler_name("The rule for one step."),
                    choice("scheduler", scheduler_names(),
                           "How much noise is removed by which step."),
                    link("positive", "CONDITIONING", "What the picture should show."),
                    link("negative", "CONDITIONING", "What the picture should not show."),
                    link("latent_image", "LATENT", "The latents to start from."),
                    denoise("Share of the schedule that is run. Below 1 the start remains "
                            "visible in the result.")},
         .outputs = {{.type = "LATENT", .tooltip = "The latents without noise."}}},
        {.class_type = "KSamplerAdvanced",
         .display_name = "KSampler (Advanced)",
         .category = "sampling",
         .inputs = {link("model", "MODEL"), choice("add_noise", {"enable", "disable"}),
                    seed("noise_seed"), steps(), cfg(), sampler_name(),
                    choice("scheduler", scheduler_names()), link("positive", "CONDITIONING"),
                    link("negative", "CONDITIONING"), link("latent_image", "LATENT"),
                    step_number("start_at_step", 0), step_number("end_at_step", 10000),
                    choice("return_with_leftover_noise", {"disable", "enable"})},
         .outputs = {{.type = "LATENT"}}},
    };
}

}  // namespace ballast::graph::nodes
