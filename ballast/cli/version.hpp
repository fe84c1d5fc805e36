#pragma once
// `ballast --version`.

#include "ballast/cli/command.hpp"

namespace ballast::cli {

/// Names the versions that the program was built with; loads nothing.
int version(const Invocation& invocation, Console& console);

}  // namespace ballast::cli
