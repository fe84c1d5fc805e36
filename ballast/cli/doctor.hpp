#pragma once
// `ballast doctor`.

#include "ballast/cli/command.hpp"

namespace ballast::cli {

/// Explains a machine's memory in plain words, and what to change.
int doctor(const Invocation& invocation, Console& console);

}  // namespace ballast::cli
