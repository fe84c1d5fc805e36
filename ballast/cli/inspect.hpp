#pragma once
// `ballast inspect FILE`.

#include "ballast/cli/command.hpp"

namespace ballast::cli {

/// Says what a weight file holds. Reads the header only, or with --verify all bytes.
int inspect(const Invocation& invocation, Console& console);

}  // namespace ballast::cli
