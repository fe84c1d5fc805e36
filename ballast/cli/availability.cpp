#include "ballast/cli/availability.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ballast/graph/runtime.hpp"
#include "ballast/graph/work_list.hpp"

namespace ballast::cli {
namespace {

constexpr std::string_view kSamplerInput = "sampler_name";

bool is_ported(std::string_view sampler) {
    return std::ranges::count(graph::kPortedSamplers, sampler) != 0;
}

Error not_ported(const graph::ValidNode& node, const std::string& sampler) {
    return {.code = Code::not_available,
            .what = "cannot run the workflow",
            .why = fmt::format("the sampler {} is not available yet", sampler),
            .place = {.node = fmt::format("{} ({})", node.id, node.declaration->class_type),
                      .key = std::string(kSamplerInput)},
            .hint = fmt::format("use one of: {}", fmt::join(graph::kPortedSamplers, ", "))};
}

}  // namespace

Result<void> require_available(const graph::ValidWorkflow& workflow) {
    const graph::WorkList needed(workflow, std::vector<bool>(workflow.nodes.size()));
    for (const auto index : needed.members()) {
        const auto& node = workflow.nodes[index];
        for (const auto& input : node.inputs) {
            const auto* value = std::get_if<graph::Json>(&input.value);
            if (input.name != kSamplerInput || value == nullptr || !value->is_string()) continue;
            if (const auto sampler = value->get<std::string>(); !is_ported(sampler))
                return fail(not_ported(node, sampler));
        }
    }
    return {};
}

}  // namespace ballast::cli
