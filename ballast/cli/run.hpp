#pragma once
// `ballast run WORKFLOW`.

#include "ballast/cli/command.hpp"

namespace ballast::cli {

/// Reads, changes (--set), checks and runs a workflow, or with --dry-run says what it would load.
int run(const Invocation& invocation, Console& console);

}  // namespace ballast::cli
