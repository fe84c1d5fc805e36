#include "ballast/cli/workflow_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ballast/cli/workflow_plan_text.hpp"
#include "ballast/graph/sufficient_limits.hpp"

namespace ballast::cli {
namespace {

using graph::WorkflowPhase;

bool fits(const WorkflowPhase& phase) { return phase.planned.plan.fits; }

/// The smallest change that makes everything fit, as far as figures can say it.
std::string remedy(const std::map<DeviceId, Bytes>& limits, const std::string& file) {
    const auto reasons =
        fmt::format("`ballast plan {} --explain` says why each block is where it is", file);
    if (limits.empty()) return "use smaller pictures, batches or models; " + reasons;
    std::string text = "raise the limit with";
    for (const auto& [device, bytes] : limits)
        text += fmt::format(" --memory-limit {}={}", to_string(device), bytes.count());
    return text + " or more, or use smaller pictures, batches or models; " + reasons;
}

}  // namespace

Result<WorkflowFit> fit_workflow(const WorkflowToFit& what, const graph::PlanningMachine& machine) {
    auto models = graph::workflow_models(what.workflow, what.folders, what.wishes.allocation);
    if (!models) return fail(std::move(models).error());
    WorkflowFit fit{.models = *std::move(models)};
    const graph::WorkflowPlanner plan = [&](const graph::PlanningMachine& on) {
        return graph::plan_models(fit.models, on, what.wishes);
    };
    auto phases = plan(machine);
    if (!phases) return fail(std::move(phases).error());
    fit.phases = *std::move(phases);
    const auto first = std::ranges::find_if_not(fit.phases, fits);
    if (first == fit.phases.end()) return fit;
    const auto limits = graph::sufficient_limits(machine, fit.phases, plan);
    fit.refusal = refusal_of(plans_of(fit.phases), "workflow", remedy(limits, what.file));
    fit.refusal->place.node = first->node;
    fit.is_refusal_assumed = std::ranges::all_of(fit.phases, [](const WorkflowPhase& phase) {
        return fits(phase) || phase.is_shape_assumed;
    });
    return fit;
}

}  // namespace ballast::cli
