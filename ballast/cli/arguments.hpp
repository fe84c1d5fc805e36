#pragma once
// From argv to an invocation. Options come from the settings table; this is the only file that
// knows the parsing library.

#include <span>
#include <string>

#include "ballast/cli/command.hpp"
#include "ballast/cli/console.hpp"

namespace ballast::cli {

/// Whether --json is among the arguments: needed before they are known to make sense.
Form form_of(std::span<const std::string> arguments);

/// `arguments` without the program's name. `ballast`, `--help` and `COMMAND --help` become the
/// command `help`, `--version` becomes `version`. Fails with `usage` (unknown command or option,
/// missing value; the hint names the nearest one) or `not_available` (announced commands).
Result<Invocation> parse_arguments(std::span<const std::string> arguments);

}  // namespace ballast::cli
