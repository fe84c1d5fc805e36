#pragma once
// `ballast plan`.

#include "ballast/cli/command.hpp"

namespace ballast::cli {

/// Says where the blocks of a workflow's models, of one model or of a list would live on this or a
/// simulated machine. Reads headers only.
int plan(const Invocation& invocation, Console& console);

}  // namespace ballast::cli
