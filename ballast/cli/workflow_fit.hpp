#pragma once
// Whether a workflow fits into a machine, and what to do where it does not.

#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/core/result.hpp"
#include "ballast/graph/folders.hpp"
#include "ballast/graph/workflow_plan.hpp"

namespace ballast::cli {

/// What is planned.
struct WorkflowToFit {
    const graph::ValidWorkflow& workflow;
    const graph::Folders& folders;
    graph::WorkflowWishes wishes{};
    std::string file{};  ///< the workflow's, for hints
};

struct WorkflowFit {
    graph::WorkflowModels models{};  ///< whose headers were read for it
    std::vector<graph::WorkflowPhase> phases{};
    /// `does_not_fit` where some phase does not: what each device lacks for which model, the node
    /// that loads the first of them, and how to make room.
    std::optional<Error> refusal{};
    /// Whether only phases do not fit that pictures decide which nobody has seen yet.
    bool is_refusal_assumed = false;
};

/// Fails as `graph::plan_workflow` does; a workflow that does not fit is no failure.
Result<WorkflowFit> fit_workflow(const WorkflowToFit& what, const graph::PlanningMachine& machine);

}  // namespace ballast::cli
