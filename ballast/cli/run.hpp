#pragma once
// `ballast run WORKFLOW`.

#include "ballast/cli/command.hpp"

namespace ballast::cli {

class Console;

/// Validates the workflow, then plans it (--dry-run) or executes it.
int run(const Invocation& invocation, Console& console);

}  // namespace ballast::cli
