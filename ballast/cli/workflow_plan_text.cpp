#include "ballast/cli/workflow_plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ballast/graph/latent_shape.hpp"
#include "ballast/graph/sufficient_limits.hpp"

namespace ballast::cli {
namespace {

using graph::WorkflowPhase;

Json shape_json(const models::StepShape& shape) {
    return {{"width", shape.width * graph::kPixelsPerCell},
            {"height", shape.height * graph::kPixelsPerCell},
            {"batch", shape.batch},
            {"sides", shape.sides},
            {"tokens", shape.tokens}};
}

Json phase_json(const WorkflowPhase& phase) {
    Json evicted = Json::array();
    Json parts = Json::object();
    for (const auto& eviction : phase.evicted) {
        evicted.push_back(eviction.name);
        for (const auto& [device, bytes] : eviction.part)
            parts[eviction.name][to_string(device)] = bytes.count();
    }
    Json json{{"name", phase.name},
              {"node", phase.node},
              {"used_by", phase.used_by},
              {"evicted", std::move(evicted)},
              {"shape", shape_json(phase.shape)},
              {"assumed_shape", phase.is_shape_assumed}};
    json.update(plan_json(phase.planned.request, phase.planned.plan));
    if (!parts.empty()) json["evicted_parts"] = std::move(parts);
    json["plan"] = plan::digest(phase.table, phase.planned.plan);
    return json;
}

/// What each device holds when it holds most.
Json homes_json(const std::vector<WorkflowPhase>& phases) {
    std::map<DeviceId, Bytes> most;
    for (const auto& phase : phases)
        for (const auto& [device, bytes] : phase.held) most[device] = std::max(most[device], bytes);
    return bytes_json(most);
}

}  // namespace

std::vector<NamedPlan> plans_of(const std::vector<WorkflowPhase>& phases) {
    std::vector<NamedPlan> plans;
    for (const auto& phase : phases)
        plans.push_back({phase.name, phase.planned.request, phase.planned.plan});
    return plans;
}

Json workflow_plan_json(const std::vector<WorkflowPhase>& phases,
                        const std::vector<std::string>& warnings,
                        const std::optional<Error>& refusal) {
    Json models = Json::array();
    for (const auto& phase : phases) models.push_back(phase_json(phase));
    Json document{{"models", std::move(models)},
                  {"homes", homes_json(phases)},
                  {"fits", !refusal.has_value()},
                  {"shortfall", shortfall_json(graph::shortfall_of(phases))},
                  {"warnings", warnings}};
    if (refusal) document["error"] = to_json(*refusal);
    return document;
}

std::string workflow_plan_text(const std::vector<WorkflowPhase>& phases, Detail detail) {
    if (phases.empty()) return "no model is loaded\n";
    std::string text;
    const auto out = std::back_inserter(text);
    std::size_t number = 0;
    for (const auto& phase : phases) {
        fmt::format_to(out, "{}{}. {} for node {}\n", number == 0 ? "" : "\n", number + 1,
                       escaped(phase.name), escaped(phase.used_by));
        ++number;
        for (const auto& eviction : phase.evicted) {
            fmt::format_to(out, "goes      {}", escaped(eviction.name));
            for (const auto& [device, bytes] : eviction.part)
                fmt::format_to(out, ", its last {} on {}", to_string(bytes), to_string(device));
            text += '\n';
        }
        text += plan_text(phase.planned.request, phase.planned.plan, detail);
        if (phase.is_shape_assumed)
            text += "assumed   pictures of 512 x 512, where they come from outside\n";
    }
    return text;
}

}  // namespace ballast::cli
