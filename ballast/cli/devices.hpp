#pragma once
// `ballast devices`.

#include "ballast/cli/command.hpp"

namespace ballast::cli {

/// Lists the devices of this or a simulated machine with what is decided about their memory.
int devices(const Invocation& invocation, Console& console);

}  // namespace ballast::cli
