#pragma once
// The commands of the program: one table from which parsing, help and dispatch work.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/settings.hpp"

namespace ballast::cli {

class Console;
struct Invocation;

/// Whether a command can do without its operand.
enum class Operand { required, optional };

struct Command {
    std::string_view name;
    std::string_view operand = {};  ///< "WORKFLOW": the one argument without dashes; empty if none
    Operand need = Operand::required;   ///< says nothing where there is no operand
    std::string_view summary;           ///< one line for the list of commands
    std::string_view description = {};  ///< paragraphs for the command's own help
    std::string_view examples = {};
    CommandMask settings = 0;  ///< which rows of the settings table it has
    /// Does the work and returns the exit status. Null: announced, "not available yet".
    int (*run)(const Invocation&, Console&) = nullptr;
};

/// A command line after parsing.
struct Invocation {
    const Command* command = nullptr;
    std::string operand;
    std::vector<GivenSetting> given;
};

/// All commands, also the announced ones, in the order of the help text.
std::span<const Command> commands();

/// Null if there is no command of that name.
const Command* find_command(std::string_view name);

}  // namespace ballast::cli
