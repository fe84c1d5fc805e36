#pragma once
// The plan of a whole workflow: which model is loaded when, where its blocks live, and what goes
// before. Made from headers alone, alike for the command line and for the runtime.

#include <map>
#include <string>
#include <vector>

#include "ballast/engine/plan/block_table.hpp"
#include "ballast/engine/residency/retention.hpp"
#include "ballast/graph/folders.hpp"
#include "ballast/graph/part_planner.hpp"
#include "ballast/graph/planning_machine.hpp"
#include "ballast/graph/valid_workflow.hpp"
#include "ballast/graph/workflow_models.hpp"

namespace ballast::graph {

/// A model makes room for another one.
struct WorkflowEviction {
    std::string name{};
    std::map<DeviceId, Bytes> part{};  ///< of its tail; empty: all of it

    bool operator==(const WorkflowEviction&) const = default;
};

/// What holds for all models of a workflow.
struct WorkflowWishes {
    std::string allocation{};  ///< for networks whose loader says nothing; empty: automatic
    residency::RetentionWishes retention{};
};

/// One model is loaded, beside those that are there.
struct WorkflowPhase {
    std::string name{};     ///< "sd15.safetensors (unet)"
    std::string node{};     ///< id of the loader
    std::string used_by{};  ///< id of the node that needs the model now
    plan::BlockTable table{};
    Planned planned{};
    std::vector<WorkflowEviction> evicted{};  ///< who makes room before, in that order
    std::string allocation{};                 ///< what was asked for; empty: automatic
    /// Of all steps that the workflow takes with the model, the one that needs the most; smaller
    /// where only that fits, and the smallest where nothing does.
    models::StepShape shape{};
    bool is_shape_assumed = false;  ///< for some step, pictures decide that nobody has seen yet
    /// By this model and the others that are loaded then: weights and rings.
    std::map<DeviceId, Bytes> held{};
};

/// One phase for each time that a model is loaded, in the order of execution: one per file, part
/// and wish when it is first used, and another one if it had to go and is used again. Models of the
/// same file, part and wish are one, whichever nodes load them. A network whose loader does not say
/// where it goes follows `wishes.allocation`, in the full form; empty: automatic.
///
/// Where steps as the workflow asks for them do not fit, they are planned as the runtime takes them
/// then: with one text at a time, in tiles. A phase that does not fit even so is a phase, too
/// (`planned.plan.fits`). Fails with `usage` for an
/// allocation text that means nothing, and as the run would at the loader, whose id the place then
/// has: a file that cannot be read, that is of another kind, or lacks a part; and with `bad_value`
/// for steps beyond any picture.
Result<std::vector<WorkflowPhase>> plan_workflow(const ValidWorkflow& workflow,
                                                 const Folders& folders,
                                                 const PlanningMachine& machine,
                                                 const WorkflowWishes& wishes);

/// The same for models that were found in a workflow before, as often as one wants without opening
/// their files again.
Result<std::vector<WorkflowPhase>> plan_models(const WorkflowModels& models,
                                               const PlanningMachine& machine,
                                               const WorkflowWishes& wishes);

}  // namespace ballast::graph
