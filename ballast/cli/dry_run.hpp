#pragma once
// `ballast run --dry-run`: what a workflow would load, and whether it fits.

#include "ballast/cli/console.hpp"
#include "ballast/graph/runtime.hpp"
#include "ballast/graph/valid_workflow.hpp"

namespace ballast::cli {

/// Plans every model that the workflow loads, from the headers of its files, and prints the plans.
/// Returns the exit status: that of `does_not_fit` when the limits do not allow it.
int dry_run(const graph::ValidWorkflow& workflow, const graph::RuntimeOptions& options,
            Console& console);

}  // namespace ballast::cli
