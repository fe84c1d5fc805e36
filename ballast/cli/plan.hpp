#pragma once
// `ballast plan`.

#include "ballast/cli/command.hpp"

namespace ballast::cli {

/// Says where the blocks of a model would live on this or a simulated machine. Reads headers only.
int plan(const Invocation& invocation, Console& console);

}  // namespace ballast::cli
