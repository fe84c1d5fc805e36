#include "ballast/cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "ballast/cli/console.hpp"
#include "ballast/engine/core/nearest_name.hpp"
#include "ballast/engine/core/settings_docs.hpp"

namespace ballast::cli {
namespace {

constexpr std::size_t kWidth = 96;
constexpr std::size_t kIndent = 30;

/// `text` broken at blanks, each line after the first indented by `indent`.
std::string wrapped(std::string_view text, std::size_t indent) {
    std::string lines;
    std::size_t column = indent;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        const auto word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (column > indent && column + 1 + word.size() > kWidth) {
            lines += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            lines += ' ';
            ++column;
        }
        lines += word;
        column += word.size();
    }
    return lines;
}

std::string option_lines(const Setting& setting) {
    auto meaning = std::string(setting.help);
    if (setting.type == SettingType::choice)
        meaning += fmt::format(": {}", fmt::join(choices_now(setting), ", "));
    if (!setting.fallback.empty()) meaning += fmt::format(" (default: {})", setting.fallback);
    auto option = "  " + option_text(setting);
    if (option.size() + 2 > kIndent) option += '\n' + std::string(kIndent, ' ');
    return fmt::format("{:<{}}{}\n", option, kIndent, wrapped(meaning, kIndent));
}

std::string indented(std::string_view text) {
    std::string result = "  ";
    for (const char c : text) {
        result += c;
        if (c == '\n') result += "  ";
    }
    return result + '\n';
}

std::string options_of(const Command& command) {
    std::string text;
    for (std::size_t group = 0; group < kSettingGroups; ++group) {
        std::string lines;
        for (const auto& setting : kSettings)
            if (setting.group == static_cast<SettingGroup>(group) &&
                (commands_now(setting) & command.settings) != 0)
                lines += option_lines(setting);
        if (lines.empty()) continue;
        text += fmt::format("\n{}:\n{}", group_title(static_cast<SettingGroup>(group)), lines);
    }
    return text;
}

/// "FILE", or "[TOPIC]" where it may be left out.
std::string operand_text(const Command& command) {
    if (command.operand.empty() || command.need == Operand::required)
        return std::string(command.operand);
    return fmt::format("[{}]", command.operand);
}

std::string command_page(const Command& command) {
    auto page = fmt::format(
        "usage: ballast {}{}{}\n\n{}.\n", command.name, command.settings != 0 ? " [options]" : "",
        command.operand.empty() ? "" : " " + operand_text(command), command.summary);
    if (!command.description.empty()) page += fmt::format("\n{}\n", command.description);
    page += options_of(command);
    if (!command.examples.empty()) page += "\nExamples:\n" + indented(command.examples);
    return page;
}

std::string program_page() {
    std::string page =
        "usage: ballast COMMAND [options]\n\n"
        "Ballast runs ComfyUI workflows natively and keeps their models in whatever memory there "
        "is.\n\nCommands:\n";
    for (const auto& command : commands()) {
        if (command.run == nullptr) continue;
        page +=
            fmt::format("  {:<18}  {}\n", fmt::format("{} {}", command.name, operand_text(command)),
                        command.summary);
    }
    page +=
        "\n`ballast COMMAND --help` explains one command, `ballast help settings` lists all "
        "settings\nwith their environment variables, `ballast --version` names the version.\n\n"
        "Exit status: 0 done, 1 internal error, 2 wrong usage, 3 bad input (file, workflow),\n"
        "4 refused because it does not fit, 5 failed while running, 130 interrupted.\n";
    return page;
}

}  // namespace

int help(const Invocation& invocation, Console& console) {
    const auto& topic = invocation.operand;
    std::string page;
    if (topic.empty()) {
        page = program_page();
    } else if (topic == "settings") {
        page = settings_page();
    } else if (const auto* command = find_command(topic); command && command->run) {
        page = command_page(*command);
    } else {
        std::vector<std::string_view> topics{"settings"};
        for (const auto& known : commands())
            if (known.run != nullptr) topics.push_back(known.name);
        const auto near = nearest_name(topic, topics);
        return console.fail({.code = command ? Code::not_available : Code::usage,
                             .what = command ? "not available yet" : "no help",
                             .why = command ? "this command comes with a later version"
                                            : "there is no such command",
                             .place = {.key = topic},
                             .hint = near ? fmt::format("did you mean `ballast help {}`?", *near)
                                          : "`ballast --help` lists the commands"});
    }
    console.say(page);
    console.print({{"help", page}});
    return 0;
}

}  // namespace ballast::cli
