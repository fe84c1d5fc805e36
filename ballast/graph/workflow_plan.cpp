#include "ballast/graph/workflow_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "ballast/engine/plan/allocation.hpp"
#include "ballast/engine/residency/phase.hpp"

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

/// Goes through a workflow and keeps account of what is loaded, as the runtime's registry does.
class Walk {
public:
    Walk(const plan::PlanMachine& machine, const WorkflowModels& used, const WorkflowWishes& wishes)
        : machine_(machine), used_(used), wishes_(wishes) {}

    /// Takes the `step`-th step. Plans its model unless it is loaded, in the first of `ways` that
    /// fits, else in the last.
    void take(std::size_t step, const std::vector<Ready>& ways) {
        const auto index = used_.steps[step].model;
        const auto& model = used_.models[index];
        step_ = step;
        const auto here = std::ranges::find(residents_, index, &Resident::model);
        if (here != residents_.end() && here->is_complete) {
            here->last_step = step;
            return;
        }
        WorkflowPhase phase{.name = model.name,
                            .node = model.loader,
                            .used_by = used_.steps[step].node,
                            .table = model.table,
                            .allocation = model.identity.allocation,
                            .is_shape_assumed = model.is_shape_assumed};
        const bool is_new = here == residents_.end();
        if (!is_new) residents_.erase(here);  // what is left of it is room for it
        std::vector<std::size_t> ejected;
        if (is_new && model.wishes.eject_models.value_or(false))
            ejected = others_to_eject(model.identity.path);
        for (const auto place : ejected) phase.evicted.push_back({name_of(place)});
        erase(std::move(ejected));
        plan(phase, ways);
        residents_.push_back(
            {.model = index,
             .last_step = step,
             .loaded = residency::loaded_by(model.name, model.table, phase.planned.plan)});
        for (const auto& resident : residents_)
            for (const auto& [device, bytes] : resident.loaded.held) phase.held[device] += bytes;
        phases_.push_back(std::move(phase));
    }

    std::vector<WorkflowPhase> phases() { return std::move(phases_); }

private:
    struct Resident {
        std::size_t model = 0;
        std::size_t last_step = 0;
        residency::Loaded loaded{};
        bool is_complete = true;
    };

    [[nodiscard]] const std::string& name_of(std::size_t place) const {
        return residents_[place].loaded.name;
    }
    [[nodiscard]] residency::RetentionFlag flag_of(const Resident& resident) const {
        const auto& model = used_.models[resident.model];
        return retention_of(model.wishes, wishes_.retention, model.name, model.identity.path);
    }

    /// Parts of the same file were loaded with it, not before it.
    [[nodiscard]] std::vector<std::size_t> others_to_eject(
        const std::filesystem::path& file) const {
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < residents_.size(); ++i) {
            const auto flag = flag_of(residents_[i]);
            const bool is_sibling = used_.models[residents_[i].model].identity.path == file;
            if (residency::can_be_ejected(flag) && !is_sibling) places.push_back(i);
        }
        return places;
    }

    /// How many steps come before the one that uses the model again.
    [[nodiscard]] std::optional<std::size_t> next_use(std::size_t model) const {
        for (auto step = step_ + 1; step < used_.steps.size(); ++step)
            if (used_.steps[step].model == model) return step - step_;
        return std::nullopt;
    }

    [[nodiscard]] std::vector<residency::Loaded> loaded() const {
        std::vector<residency::Loaded> list;
        for (const auto& resident : residents_) {
            auto loaded = resident.loaded;
            loaded.standing = residency::standing_of(flag_of(resident));
            loaded.is_idle =
                !(wishes_.retention.is_strict && loaded.standing == residency::Standing::retained);
            loaded.next_use = next_use(resident.model);
            loaded.last_use = resident.last_step;
            list.push_back(std::move(loaded));
        }
        return list;
    }

    /// Fills in the plan and makes the room that it needs.
    void plan(WorkflowPhase& phase, const std::vector<Ready>& ways) {
        std::vector<residency::Eviction> evicted;
        for (const auto& way : ways) {
            auto found = plan_beside(machine_, loaded(), way.planner);
            phase.planned = std::move(found.planned);
            phase.shape = way.shape;
            evicted = std::move(found.evicted);
            if (!phase.planned.plan.fits) continue;
            if (!way.how.empty())
                phase.planned.plan.warnings.push_back("memory suffices only " + way.how);
            break;
        }
        std::vector<std::size_t> gone;
        for (const auto& eviction : evicted) {
            phase.evicted.push_back({name_of(eviction.index), eviction.part});
            if (eviction.is_whole())
                gone.push_back(eviction.index);
            else
                cut(residents_[eviction.index], eviction.part);
        }
        erase(std::move(gone));
    }

    static void cut(Resident& resident, const std::map<DeviceId, Bytes>& part) {
        resident.is_complete = false;
        for (const auto& [device, bytes] : part) {
            auto& held = resident.loaded.held[device];
            held = held.minus_or_zero(bytes);
            auto& tail = resident.loaded.tail[device];
            Bytes gone;
            auto end = tail.begin();
            while (end != tail.end() && gone < bytes) gone += *end++;
            tail.erase(tail.begin(), end);
        }
        std::erase_if(resident.loaded.held, [](const auto& each) { return each.second.is_zero(); });
    }

    void erase(std::vector<std::size_t> places) {
        std::ranges::sort(places, std::ranges::greater{});
        for (const auto place : places)
            residents_.erase(residents_.begin() + static_cast<std::ptrdiff_t>(place));
    }

    const plan::PlanMachine& machine_;
    const WorkflowModels& used_;
    const WorkflowWishes& wishes_;
    std::size_t step_ = 0;
    std::vector<Resident> residents_;
    std::vector<WorkflowPhase> phases_;
};

}  // namespace

Result<std::vector<WorkflowPhase>> plan_workflow(const ValidWorkflow& workflow,
                                                 const Folders& folders,
                                                 const PlanningMachine& machine,
                                                 const WorkflowWishes& wishes) {
    const auto models = workflow_models(workflow, folders, wishes.allocation);
    if (!models) return fail(models.error());
    return plan_models(*models, machine, wishes);
}

Result<std::vector<WorkflowPhase>> plan_models(const WorkflowModels& models,
                                               const PlanningMachine& machine,
                                               const WorkflowWishes& wishes) {
    // also when no network follows it, and without blaming a node
    if (auto policy = plan::parse_allocation(wishes.allocation, machine.context); !policy)
        return fail(std::move(policy).error());
    std::vector<std::vector<Ready>> ways;
    for (const auto& model : models.models) {
        auto made = all_ways(model, machine);
        if (!made) return fail(at_node(std::move(made).error(), model.loader));
        ways.push_back(*std::move(made));
    }
    Walk walk(machine.devices, models, wishes);
    for (std::size_t i = 0; i < models.steps.size(); ++i) walk.take(i, ways[models.steps[i].model]);
    return walk.phases();
}

}  // namespace ballast::graph
