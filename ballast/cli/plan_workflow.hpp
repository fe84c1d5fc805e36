#pragma once
// `ballast plan WORKFLOW`.

#include <string>

#include "ballast/cli/console.hpp"
#include "ballast/engine/core/settings.hpp"
#include "ballast/graph/planning_machine.hpp"

namespace ballast::cli {

/// Says which models the workflow loads in which order, where their blocks would live and what goes
/// before. Returns the exit status.
int plan_workflow(const std::string& file, const Settings& settings,
                  const graph::PlanningMachine& machine, Console& console);

}  // namespace ballast::cli
