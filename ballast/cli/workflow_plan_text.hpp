#pragma once
// Plans of workflows as JSON and as text for people.

#include <optional>
#include <string>
#include <vector>

#include "ballast/cli/console.hpp"
#include "ballast/cli/plan_text.hpp"
#include "ballast/graph/workflow_plan.hpp"

namespace ballast::cli {

/// The plans of all phases, under the names of their models.
std::vector<NamedPlan> plans_of(const std::vector<graph::WorkflowPhase>& phases);

/// {"models", "homes", "fits", "shortfall", "warnings"}, and "error" where there is a refusal. A
/// model has the keys of `plan_json`, where it stands in the workflow, and its plan's digest; homes
/// are what each device holds at most at one time.
Json workflow_plan_json(const std::vector<graph::WorkflowPhase>& phases,
                        const std::vector<std::string>& warnings,
                        const std::optional<Error>& refusal);

/// The phases in their order, each with what goes before.
std::string workflow_plan_text(const std::vector<graph::WorkflowPhase>& phases, Detail detail);

}  // namespace ballast::cli
