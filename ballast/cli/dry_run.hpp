#pragma once
// What a run would load, and whether it fits, from file headers alone.

#include "ballast/cli/console.hpp"
#include "ballast/graph/folders.hpp"
#include "ballast/graph/valid_workflow.hpp"

namespace ballast::cli {

/// Prints the plan of every model that the workflow loads; the exit status says whether all of them
/// fit together (4 if not).
int dry_run(const graph::ValidWorkflow& workflow, const graph::Folders& folders,
            const std::map<DeviceId, Bytes>& limits, Console& console);

}  // namespace ballast::cli
