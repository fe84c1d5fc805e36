#pragma once
// `ballast run --dry-run`: what a workflow would load, and whether it fits.

#include <string>
#include <vector>

#include "ballast/cli/console.hpp"
#include "ballast/engine/core/settings.hpp"
#include "ballast/graph/workflow_plan.hpp"

namespace ballast::cli {

/// Prints the plan of the workflow in `file`, and writes it to the file that --report names.
/// Returns the exit status: that of `does_not_fit` when some phase does not, in which case the
/// document has the member "error", too. `warnings` were said already.
int dry_run(const std::vector<graph::WorkflowPhase>& phases, const std::string& file,
            const Settings& settings, const std::vector<std::string>& warnings, Console& console);

}  // namespace ballast::cli
