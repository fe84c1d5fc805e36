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

Error at_node(Error error, const std::string& node) {
    if (error.place.node.empty()) error.place.node = node;
    return error;
}

/// A model whose wish was understood.
struct Ready {
    PartPlanner planner;
    StepShape shape;
};

/// Of several shapes, the one whose step needs the most beside the weights.
Result<StepShape> largest(const WorkflowModel& model) {
    auto chosen = model.shapes.front();
    if (model.shapes.size() == 1) return chosen;
    std::optional<Bytes> most;
    for (const auto& shape : model.shapes) {
        const auto costs = model.part->costs(*model.directory, shape);
        if (!costs) return fail(costs.error());
        if (most && costs->peak_activation_bytes <= *most) continue;
        most = costs->peak_activation_bytes;
        chosen = shape;
    }
    return chosen;
}

Result<Ready> ready(const WorkflowModel& model, const PlanningMachine& machine) {
    const auto shape = largest(model);
    if (!shape) return fail(shape.error());
    auto part = part_to_plan(*model.directory, *model.part, *shape);
    if (!part) return fail(std::move(part).error());
    auto planner = PartPlanner::make(
        machine, *std::move(part),
        {.compute = model.identity.compute, .allocation = model.identity.allocation});
    if (!planner) return fail(std::move(planner).error());
    return Ready{.planner = *std::move(planner), .shape = *shape};
}

/// Goes through a workflow and keeps account of what is loaded.
class Walk {
public:
    explicit Walk(const plan::PlanMachine& machine) : machine_(machine) {}

    /// Plans the model unless it is loaded.
    void use(const WorkflowModel& model, const Ready& how, std::size_t index, std::string used_by) {
        if (const auto at = std::ranges::find(loaded_, index); at != loaded_.end()) {
            const auto place = at - loaded_.begin();
            std::rotate(at, at + 1, loaded_.end());
            std::rotate(residents_.begin() + place, residents_.begin() + place + 1,
                        residents_.end());
            return;
        }
        WorkflowPhase phase{.name = model.name,
                            .node = model.loader,
                            .used_by = std::move(used_by),
                            .table = model.table,
                            .allocation = model.identity.allocation,
                            .shape = how.shape,
                            .is_shape_assumed = model.is_shape_assumed};
        std::vector<Planned> tried;
        const auto found = residency::plan_phase(machine_, residents_, [&](const auto& left) {
            return tried.emplace_back(how.planner.plan(left)).plan;
        });
        phase.planned = *std::ranges::find(tried, found.left,
                                           [](const auto& each) { return each.request.machine; });
        for (const auto gone : found.evicted) phase.evicted.push_back(residents_[gone].name);
        drop(found.evicted);
        residents_.push_back({.name = model.name, .held = residency::held_by(found.plan)});
        loaded_.push_back(index);
        for (const auto& resident : residents_)
            for (const auto& [device, bytes] : resident.held) phase.held[device] += bytes;
        phases_.push_back(std::move(phase));
    }

    std::vector<WorkflowPhase> take() { return std::move(phases_); }

private:
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
    std::vector<Ready> how;
    for (const auto& model : used->models) {
        auto made = ready(model, machine);
        if (!made) return fail(at_node(std::move(made).error(), model.loader));
        how.push_back(*std::move(made));
    }
    Walk walk(machine.devices);
    for (const auto& step : used->steps)
        walk.use(used->models[step.model], how[step.model], step.model, step.node);
    return walk.take();
}

}  // namespace ballast::graph
