// Nodes that make and combine conditioning.

#include "ballast/graph/nodes/families.hpp"

namespace ballast::graph::nodes {

namespace {

InputDeclaration strength() {
    return {.name = "strength", .field = NumberField{.default_value = 1.0, .max = 10.0}};
}

InputDeclaration area_side(std::string name, std::int64_t least) {
    return {.name = std::move(name),
            .field = IntegerField{
                .default_value = least, .min = least, .max = kMaxResolution, .step = 8}};
}

InputDeclaration fraction(std::string name, double default_value) {
    return {.name = std::move(name),
            .field = NumberField{.default_value = default_value, .max = 1.0, .step = 0.001}};
}

std::vector<OutputDeclaration> one_conditioning() { return {{.type = "CONDITIONING"}}; }

}  // namespace

std::vector<NodeDeclaration> conditioning() {
    return {
        {.class_type = "CLIPTextEncode",
         .display_name = "CLIP Text Encode (Prompt)",
         .category = "conditioning",
         .description = "Turns a prompt into the embedding that guides the diffusion model.",
         .inputs = {{.name = "text",
                     .field = TextField{.lines = Lines::many},
                     .tooltip = "The prompt."},
                    link("clip", "CLIP", "The text encoder to use.")},
         .outputs = {{.type = "CONDITIONING", .tooltip = "The encoded prompt."}}},
        {.class_type = "CLIPSetLastLayer",
         .display_name = "CLIP Set Last Layer",
         .category = "conditioning",
         .inputs = {link("clip", "CLIP"),
                    {.name = "stop_at_clip_layer",
                     .field = IntegerField{.default_value = -1, .min = -24, .max = -1, .step = 1}}},
         .outputs = {{.type = "CLIP"}}},
        {.class_type = "ConditioningCombine",
         .display_name = "Conditioning (Combine)",
         .category = "conditioning",
         .inputs = {link("conditioning_1", "CONDITIONING"), link("conditioning_2", "CONDITIONING")},
         .outputs = one_conditioning()},
        {.class_type = "ConditioningAverage",
         .display_name = "ConditioningAverage",
         .category = "conditioning",
         .inputs = {link("conditioning_to", "CONDITIONING"),
                    link("conditioning_from", "CONDITIONING"),
                    {.name = "conditioning_to_strength",
                     .field = NumberField{.default_value = 1.0, .max = 1.0}}},
         .outputs = one_conditioning()},
        {.class_type = "ConditioningConcat",
         .display_name = "Conditioning (Concat)",
         .category = "conditioning",
         .inputs = {link("conditioning_to", "CONDITIONING"),
                    link("conditioning_from", "CONDITIONING")},
         .outputs = one_conditioning()},
        {.class_type = "ConditioningSetArea",
         .display_name = "Conditioning (Set Area)",
         .category = "conditioning",
         .inputs = {link("conditioning", "CONDITIONING"), area_side("width", 64),
                    area_side("height", 64), area_side("x", 0), area_side("y", 0), strength()},
         .outputs = one_conditioning()},
        {.class_type = "ConditioningSetMask",
         .display_name = "Conditioning (Set Mask)",
         .category = "conditioning",
         .inputs = {link("conditioning", "CONDITIONING"), link("mask", "MASK"), strength(),
                    choice("set_cond_area", {"default", "mask bounds"})},
         .outputs = one_conditioning()},
        {.class_type = "ConditioningZeroOut",
         .display_name = "ConditioningZeroOut",
         .category = "advanced/conditioning",
         .inputs = {link("conditioning", "CONDITIONING")},
         .outputs = one_conditioning()},
        {.class_type = "ConditioningSetTimestepRange",
         .display_name = "ConditioningSetTimestepRange",
         .category = "advanced/conditioning",
         .inputs = {link("conditioning", "CONDITIONING"), fraction("start", 0.0),
                    fraction("end", 1.0)},
         .outputs = one_conditioning()},
    };
}

}  // namespace ballast::graph::nodes
