#include "ballast/engine/core/settings_docs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <iterator>
#include <utility>

#include "ballast/engine/core/setting_values.hpp"
#include "ballast/engine/core/settings.hpp"

namespace ballast {
namespace {

std::string values_of(const Setting& setting) {
    switch (setting.type) {
        case SettingType::flag: return "on or off";
        case SettingType::text: return "text";
        case SettingType::path: return "path";
        case SettingType::integer:
            return fmt::format("{} to {}", static_cast<std::int64_t>(setting.least),
                               static_cast<std::int64_t>(setting.most));
        case SettingType::number: return fmt::format("{} to {}", setting.least, setting.most);
        case SettingType::choice: return fmt::format("{}", fmt::join(choices_now(setting), ", "));
        case SettingType::device_size: return "device and size";
        case SettingType::device_choice:
            return fmt::format("device and {}", fmt::join(choices_now(setting), ", "));
        case SettingType::memory_share: return "GiB, size or percent";
    }
    return {};
}

std::string commands_of(const Setting& setting) {
    constexpr std::array<std::pair<CommandMask, std::string_view>, 5> kNames{
        {{kRunCommand, "`run`"},
         {kInspectCommand, "`inspect`"},
         {kDevicesCommand, "`devices`"},
         {kDoctorCommand, "`doctor`"},
         {kPlanCommand, "`plan`"}}};
    const auto commands = commands_now(setting);
    if (commands == kEveryCommand) return "all";
    std::vector<std::string_view> names;
    for (const auto& [mask, name] : kNames)
        if ((commands & mask) != 0) names.push_back(name);
    return fmt::format("{}", fmt::join(names, ", "));
}

void add_row(std::string& page, const Setting& setting) {
    const auto environment = environment_name(setting);
    auto values = values_of(setting);
    if (setting.arity == Arity::list) values += ", repeatable";
    fmt::format_to(std::back_inserter(page), "| `{}` | {} | {} | {} | {} | {} |\n",
                   option_text(setting), commands_of(setting), values,
                   setting.fallback.empty() ? "" : fmt::format("`{}`", setting.fallback),
                   environment.empty() ? "" : fmt::format("`{}`", environment), setting.help);
}

void add_group(std::string& page, SettingGroup group) {
    bool is_first = true;
    for (const auto& setting : kSettings) {
        if (setting.group != group || commands_now(setting) == 0) continue;
        if (is_first)
            fmt::format_to(
                std::back_inserter(page),
                "\n## {}\n\n| option | command | values | default | environment | meaning |\n"
                "|---|---|---|---|---|---|\n",
                group_title(group));
        is_first = false;
        add_row(page, setting);
    }
}

constexpr std::string_view kPreface = R"(# Settings

This page is generated: `ballast help settings` prints it.

A setting can be given as an option of the command line, in the environment, or in a JSON file that
`--settings FILE` names; the first of these that gives it wins. In the file, a setting has the name
of its option without the dashes: `{"output": "pictures", "memory-limit": {"cpu": "8gb"}}`. In the
environment, a flag is `1` or `0`, and a list is separated by `:` (paths) or `,`. Settings without an
environment name belong to one call and are options only.
)";

}  // namespace

std::string group_title(SettingGroup group) {
    switch (group) {
        case SettingGroup::files: return "Files";
        case SettingGroup::workflow: return "Workflow";
        case SettingGroup::memory: return "Memory";
        case SettingGroup::formats: return "Number formats";
        case SettingGroup::processor: return "Processor";
        case SettingGroup::results: return "Results kept between runs";
        case SettingGroup::output: return "What is printed";
    }
    return {};
}

std::string option_text(const Setting& setting) {
    if (setting.type == SettingType::flag) return fmt::format("--{}", setting.name);
    return fmt::format("--{} {}", setting.name, setting.value_name);
}

std::vector<std::string_view> choices_now(const Setting& setting) {
    auto choices = split(setting.choices, '|');
    for (const auto later : split(setting.later_choices, '|')) std::erase(choices, later);
    return choices;
}

std::string settings_page() {
    std::string page(kPreface);
    for (std::size_t i = 0; i < kSettingGroups; ++i) add_group(page, static_cast<SettingGroup>(i));
    page +=
        "\n## Announced\n\nThese names are known and answer \"not available yet\" (exit status 2):"
        "\n\n";
    std::string names;
    for (const auto& setting : kSettings) {
        if (setting.announced == 0) continue;
        if (!names.empty()) names += ",\n";
        names += fmt::format("`--{}`", setting.name);
        if (commands_now(setting) != 0) names += " (`run`)";
    }
    return page + names + ".\n";
}

}  // namespace ballast
