#pragma once
// `ballast run --dry-run`: what a workflow would load, and whether it fits.

#include <string>
#include <vector>

#include "ballast/cli/console.hpp"
#include "ballast/cli/workflow_fit.hpp"
#include "ballast/engine/core/settings.hpp"

namespace ballast::cli {

/// Prints how a workflow would be placed, and writes it to the file that --report names.
/// Returns the exit status: that of `does_not_fit` when some phase does not, in which case the
/// document has the member "error", too. `warnings` were said already.
int dry_run(const WorkflowFit& fit, const Settings& settings,
            const std::vector<std::string>& warnings, Console& console);

}  // namespace ballast::cli
