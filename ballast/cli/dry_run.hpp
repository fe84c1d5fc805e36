#pragma once
// `ballast run --dry-run`: what a workflow would load, and whether it fits.

#include <string>
#include <vector>

#include "ballast/cli/console.hpp"
#include "ballast/cli/planned_models.hpp"
#include "ballast/engine/core/settings.hpp"
#include "ballast/graph/runtime.hpp"

namespace ballast::cli {

/// Prints the plans of all models of a workflow, and writes them to the file that --report names.
/// Returns the exit status: that of `does_not_fit` when the limits do not allow it, in which case
/// the document has the member "error", too. `warnings` were said already.
int dry_run(const std::vector<PlannedModel>& models, const graph::RuntimeOptions& options,
            const Settings& settings, std::vector<std::string> warnings, Console& console);

}  // namespace ballast::cli
