#include "ballast/graph/workflow_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "ballast/engine/plan/allocation.hpp"
#include "ballast/engine/residency/phase.hpp"
#include "ballast/graph/workflow_models.hpp"

namespace ballast::graph {
namespace {

using models::StepShape;

/// A model whose wish was understood, for one way to take its steps.
struct Ready {
    PartPlanner planner;
    StepShape shape;
    std::string how;  ///< empty: as the workflow asks for it
};

/// The step of a demand when less memory was found to suffice `times` times.
SmallerStep step_after(const StepDemand& demand, std::size_t times) {
    if (times == 0 || demand.smaller.empty()) return {.how = {}, .shape = demand.shape};
    return demand.smaller[std::min(times, demand.smaller.size()) - 1];
}

/// Of several steps, the one that needs the most beside the weights.
Result<SmallerStep> largest(const WorkflowModel& model, std::size_t times) {
    auto chosen = step_after(model.demands.front(), times);
    if (model.demands.size() == 1) return chosen;
    std::optional<Bytes> most;
    for (const auto& demand : model.demands) {
        auto step = step_after(demand, times);
        const auto costs = model.part->costs(*model.directory, step.shape);
        if (!costs) return fail(costs.error());
        if (most && costs->peak_activation_bytes <= *most) continue;
        most = costs->peak_activation_bytes;
        chosen = std::move(step);
    }
    return chosen;
}

Result<Ready> ready(const WorkflowModel& model, const PlanningMachine& machine,
                    const SmallerStep& step) {
    auto part = part_to_plan(*model.directory, *model.part, step.shape);
    if (!part) return fail(std::move(part).error());
    auto planner = PartPlanner::make(
        machine, *std::move(part),
        {.compute = model.identity.compute, .allocation = model.identity.allocation});
    if (!planner) return fail(std::move(planner).error());
    return Ready{.planner = *std::move(planner), .shape = step.shape, .how = step.how};
}

/// All ways to take the model's steps, as the workflow asks for them first.
Result<std::vector<Ready>> all_ways(const WorkflowModel& model, const PlanningMachine& machine) {
    std::size_t last = 0;
    for (const auto& demand : model.demands) last = std::max(last, demand.smaller.size());
    std::vector<Ready> ways;
    for (std::size_t times = 0; times <= last; ++times) {
        const auto step = largest(model, times);
        if (!step) return fail(step.error());
        auto way = ready(model, machine, *step);
        if (!way) return fail(std::move(way).error());
        ways.push_back(*std::move(way));
    }
    return ways;
}

/// Goes through a workflow and keeps account of what is loaded.
class Walk {
public:
    explicit Walk(const plan::PlanMachine& machine) : machine_(machine) {}

    /// Plans the model unless it is loaded, in the first of `ways` that fits, else in the last.
    void use(const WorkflowModel& model, const std::vector<Ready>& ways, std::size_t index,
             std::string used_by) {
        if (is_touched(index)) return;
        WorkflowPhase phase{.name = model.name,
                            .node = model.loader,
                            .used_by = std::move(used_by),
                            .table = model.table,
                            .allocation = model.identity.allocation,
                            .is_shape_assumed = model.is_shape_assumed};
        std::vector<std::size_t> gone;
        for (const auto& way : ways) {
            gone = plan(phase, way);
            if (!phase.planned.plan.fits) continue;
            if (!way.how.empty())
                phase.planned.plan.warnings.push_back("memory suffices only " + way.how);
            break;
        }
        for (const auto place : gone) phase.evicted.push_back(residents_[place].name);
        drop(std::move(gone));
        residents_.push_back({.name = model.name, .held = residency::held_by(phase.planned.plan)});
        loaded_.push_back(index);
        for (const auto& resident : residents_)
            for (const auto& [device, bytes] : resident.held) phase.held[device] += bytes;
        phases_.push_back(std::move(phase));
    }

    std::vector<WorkflowPhase> take() { return std::move(phases_); }

private:
    /// Whether the model is loaded; then it is the one that was used last.
    bool is_touched(std::size_t index) {
        const auto at = std::ranges::find(loaded_, index);
        if (at == loaded_.end()) return false;
        const auto resident = residents_.begin() + (at - loaded_.begin());
        std::rotate(at, at + 1, loaded_.end());
        std::rotate(resident, resident + 1, residents_.end());
        return true;
    }

    /// Fills in the plan; returns the places of those who go.
    std::vector<std::size_t> plan(WorkflowPhase& phase, const Ready& way) const {
        auto found = plan_beside(machine_, residents_, way.planner);
        phase.planned = std::move(found.planned);
        phase.shape = way.shape;
        return std::move(found.evicted);
    }

    void drop(std::vector<std::size_t> gone) {
        std::ranges::sort(gone, std::ranges::greater{});
        for (const auto place : gone) {
            residents_.erase(residents_.begin() + static_cast<std::ptrdiff_t>(place));
            loaded_.erase(loaded_.begin() + static_cast<std::ptrdiff_t>(place));
        }
    }

    const plan::PlanMachine& machine_;
    std::vector<residency::Loaded> residents_;  ///< least recently used first
    std::vector<std::size_t> loaded_;           ///< their indices among the models
    std::vector<WorkflowPhase> phases_;
};

}  // namespace

Result<std::vector<WorkflowPhase>> plan_workflow(const ValidWorkflow& workflow,
                                                 const Folders& folders,
                                                 const PlanningMachine& machine,
                                                 const std::string& allocation) {
    // also when no network follows it, and without blaming a node
    if (auto policy = plan::parse_allocation(allocation, machine.context); !policy)
        return fail(std::move(policy).error());
    const auto used = workflow_models(workflow, folders, allocation);
    if (!used) return fail(used.error());
    std::vector<std::vector<Ready>> ways;
    for (const auto& model : used->models) {
        auto made = all_ways(model, machine);
        if (!made) return fail(at_node(std::move(made).error(), model.loader));
        ways.push_back(*std::move(made));
    }
    Walk walk(machine.devices);
    for (const auto& step : used->steps)
        walk.use(used->models[step.model], ways[step.model], step.model, step.node);
    return walk.take();
}

}  // namespace ballast::graph
