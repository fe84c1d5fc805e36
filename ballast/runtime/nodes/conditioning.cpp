// Nodes that make conditioning from text, and combine, place and time it.

#include "ballast/runtime/sampling/conditioning/conditioning.hpp"

#include <array>

#include "ballast/runtime/nodes/implementation.hpp"
#include "ballast/runtime/nodes/prompt_encoding.hpp"
#include "ballast/runtime/nodes/values.hpp"

namespace ballast::runtime::nodes {
namespace {

graph::NodeResult result(sampling::Conditioning list) {
    return outputs(std::make_shared<ConditioningValue>(std::move(list)));
}

graph::NodeResult encode(const Context& context, const graph::NodeCall& call) {
    const auto encoded = encode_text(context, input<ClipValue>(call, "clip"), call.text("text"));
    sampling::ConditioningEntry entry;
    entry.embedding = encoded.tokens;
    entry.pooled = encoded.pooled;
    return result({std::move(entry)});
}

graph::NodeResult set_last_layer(const Context&, const graph::NodeCall& call) {
    auto clip = input<ClipValue>(call, "clip");
    clip.layer = static_cast<int>(call.integer("stop_at_clip_layer"));
    return outputs(std::make_shared<ClipValue>(std::move(clip)));
}

graph::NodeResult combine(const Context&, const graph::NodeCall& call) {
    return result(sampling::combine(input<ConditioningValue>(call, "conditioning_1"),
                                    input<ConditioningValue>(call, "conditioning_2")));
}

graph::NodeResult average(const Context&, const graph::NodeCall& call) {
    return result(sampling::average(input<ConditioningValue>(call, "conditioning_to"),
                                    input<ConditioningValue>(call, "conditioning_from"),
                                    call.number("conditioning_to_strength")));
}

graph::NodeResult concat(const Context&, const graph::NodeCall& call) {
    return result(sampling::concat(input<ConditioningValue>(call, "conditioning_to"),
                                   input<ConditioningValue>(call, "conditioning_from")));
}

graph::NodeResult set_area(const Context&, const graph::NodeCall& call) {
    return result(sampling::set_area(input<ConditioningValue>(call, "conditioning"),
                                     {.width = call.integer("width"),
                                      .height = call.integer("height"),
                                      .x = call.integer("x"),
                                      .y = call.integer("y")},
                                     call.number("strength")));
}

graph::NodeResult set_mask(const Context&, const graph::NodeCall& call) {
    const auto area = call.text("set_cond_area") == "mask bounds" ? sampling::MaskArea::bounds
                                                                  : sampling::MaskArea::whole;
    return result(sampling::set_mask(input<ConditioningValue>(call, "conditioning"),
                                     input<MaskValue>(call, "mask"), call.number("strength"),
                                     area));
}

graph::NodeResult zero_out(const Context&, const graph::NodeCall& call) {
    return result(sampling::zero_out(input<ConditioningValue>(call, "conditioning")));
}

graph::NodeResult set_timestep_range(const Context&, const graph::NodeCall& call) {
    return result(sampling::set_timestep_range(input<ConditioningValue>(call, "conditioning"),
                                               call.number("start"), call.number("end")));
}

constexpr std::array kNodes{
    ImplementationRow{"CLIPTextEncode", &encode},
    ImplementationRow{"CLIPSetLastLayer", &set_last_layer},
    ImplementationRow{"ConditioningCombine", &combine},
    ImplementationRow{"ConditioningAverage", &average},
    ImplementationRow{"ConditioningConcat", &concat},
    ImplementationRow{"ConditioningSetArea", &set_area},
    ImplementationRow{"ConditioningSetMask", &set_mask},
    ImplementationRow{"ConditioningZeroOut", &zero_out},
    ImplementationRow{"ConditioningSetTimestepRange", &set_timestep_range},
};

}  // namespace

std::span<const ImplementationRow> conditioning_nodes() { return kNodes; }

}  // namespace ballast::runtime::nodes
