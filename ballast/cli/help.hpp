#pragma once
// Help texts, made from the tables of commands and settings.

#include "ballast/cli/command.hpp"

namespace ballast::cli {

/// `ballast help [COMMAND | settings]`.
int help(const Invocation& invocation, Console& console);

}  // namespace ballast::cli
