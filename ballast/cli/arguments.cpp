#include "ballast/cli/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "ballast/engine/core/nearest_name.hpp"
#include "ballast/engine/core/setting_values.hpp"

namespace ballast::cli {
namespace {

Error usage(std::string what, std::string key, std::string why, std::string hint) {
    return {.code = Code::usage,
            .what = std::move(what),
            .why = std::move(why),
            .place = {.key = std::move(key)},
            .hint = std::move(hint)};
}

Error not_available(std::string key, std::string why) {
    return {.code = Code::not_available,
            .what = "not available yet",
            .why = std::move(why),
            .place = {.key = std::move(key)},
            .hint = "`ballast --help` lists what there is"};
}

Error unknown_command(const std::string& name) {
    std::vector<std::string_view> names;
    for (const auto& command : commands())
        if (command.run != nullptr) names.push_back(command.name);
    std::string hint = "`ballast --help` lists the commands";
    std::error_code ignored;
    if (const auto near = nearest_name(name, names))
        hint = fmt::format("did you mean `ballast {}`?", *near);
    else if (std::filesystem::is_regular_file(name, ignored))
        hint = fmt::format(
            "`ballast run {0}` runs a workflow, `ballast inspect {0}` looks at "
            "weights",
            name);
    if (name.starts_with('-'))
        return usage("unknown option", name, "options follow the command", std::move(hint));
    return usage("unknown command", name, "there is no such command", std::move(hint));
}

Error unknown_option(const std::string& text, const Command& command) {
    const auto name = text.substr(0, text.find('='));
    std::vector<std::string> options{"--help"};
    for (const auto& setting : kSettings)
        if ((commands_now(setting) & command.settings) != 0)
            options.push_back(fmt::format("--{}", setting.name));
    const std::vector<std::string_view> candidates(options.begin(), options.end());
    const auto near = nearest_name(name, candidates);
    return usage("unknown option", name,
                 fmt::format("`ballast {}` has no such option", command.name),
                 near ? fmt::format("did you mean {}?", *near)
                      : fmt::format("`ballast {} --help` lists its options", command.name));
}

/// The options of one command, as the parsing library wants them.
class Parser {
public:
    explicit Parser(const Command& command) : command_(&command) {
        app_.set_help_flag();
        app_.allow_extras();
        help_ = app_.add_flag("-h,--help");
        if (!command.operand.empty())
            operands_ = app_.add_option("operand", ignored_)->expected(0, -1);
        for (std::size_t i = 0; i < kSettings.size(); ++i)
            if ((kSettings[i].commands & command.settings) != 0) add(SettingName(i));
    }

    Result<Invocation> parse(std::vector<std::string> arguments) {
        std::ranges::reverse(arguments);  // the library takes them from the back
        try {
            app_.parse(std::move(arguments));
        } catch (const CLI::ParseError& error) {
            return fail(missing_value(error));
        }
        if (help_->count() > 0)
            return Invocation{find_command("help"), std::string(command_->name), {}};
        return collect();
    }

private:
    void add(SettingName name) {
        const auto& setting = name.row();
        auto names = fmt::format("--{}", setting.name);
        if (!setting.alias.empty()) names += fmt::format(",--{}", setting.alias);
        if (setting.type == SettingType::flag) {
            options_.emplace_back(name, app_.add_flag(names));
            return;
        }
        auto* option = app_.add_option(names, ignored_)->allow_extra_args(false);
        option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        // an option that may stand bare takes a value only behind '='
        option->expected(setting.bare.empty() ? 1 : 0, 1);
        options_.emplace_back(name, option);
    }

    Result<Invocation> collect() const {
        auto operands = operands_ != nullptr ? operands_->results() : std::vector<std::string>{};
        bool is_option_possible = true;  // until "--"
        for (const auto& extra : app_.remaining()) {
            if (is_option_possible && extra == "--")
                is_option_possible = false;
            else if (is_option_possible && extra.size() > 1 && extra.starts_with('-'))
                return fail(unknown_option(extra, *command_));
            else
                operands.push_back(extra);
        }

        Invocation invocation{command_, {}, {}};
        const std::size_t most = operands_ ? 1 : 0;
        if (operands.size() > most)
            return fail(usage("too many arguments", operands[most],
                              fmt::format("`ballast {}` takes {}", command_->name,
                                          most == 0 ? "no argument" : "one argument"),
                              "put an option's value directly behind it"));
        if (!operands.empty() && !operands.front().empty())
            invocation.operand = operands.front();
        else if (most == 1 && command_->need == Operand::required) {
            if (const auto swallowed = number_that_is_none()) return fail(*swallowed);
            return fail(usage("an argument is missing", std::string(command_->operand),
                              fmt::format("`ballast {}` needs it", command_->name),
                              fmt::format("`ballast {} --help` shows examples", command_->name)));
        }
        for (const auto& [name, option] : options_)
            if (option->count() > 0) invocation.given.push_back({name, option->results()});
        return invocation;
    }

    /// "run --repeat workflow.json": the argument that is missing was taken for a number.
    std::optional<Error> number_that_is_none() const {
        for (const auto& [name, option] : options_) {
            const auto& setting = name.row();
            const bool is_number =
                setting.type == SettingType::integer || setting.type == SettingType::number;
            if (!is_number || option->count() == 0) continue;
            const auto text = option->results().back();
            if (check_value(setting, text)) continue;
            return usage("bad value", fmt::format("--{}", setting.name),
                         fmt::format("it needs a number, '{}' is none", text),
                         fmt::format("write --{} {} {}", setting.name,
                                     setting.fallback.empty() ? "2" : setting.fallback, text));
        }
        return std::nullopt;
    }

    Error missing_value(const CLI::ParseError& error) const {
        // the library's texts begin with the option: "--models: 1 required TEXT missing"
        const std::string text = error.what();
        const auto option = text.substr(0, text.find(':'));
        const auto name = find_setting(option.starts_with("--") ? option.substr(2) : "");
        if (!name) return usage("cannot read the command line", {}, text, {});
        return usage("a value is missing", option,
                     fmt::format("it needs a {}", name->row().value_name),
                     fmt::format("write {} {}", option, name->row().value_name));
    }

    const Command* command_;
    CLI::App app_;
    CLI::Option* help_ = nullptr;
    CLI::Option* operands_ = nullptr;
    std::vector<std::pair<SettingName, CLI::Option*>> options_;
    std::vector<std::string> ignored_;  // the library insists on a variable
};

}  // namespace

Form form_of(std::span<const std::string> arguments) {
    for (const auto& argument : arguments) {
        if (argument == "--") break;
        if (argument == "--json") return Form::json;
    }
    return Form::text;
}

Result<Invocation> parse_arguments(std::span<const std::string> arguments) {
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h")
        return Invocation{find_command("help"), {}, {}};
    const bool is_version_option = arguments[0] == "--version" || arguments[0] == "-V";
    const std::string name = is_version_option ? "version" : arguments[0];
    const auto* command = find_command(name);
    if (command == nullptr) return fail(unknown_command(name));
    if (command->run == nullptr)
        return fail(not_available(name, "this command comes with a later version"));
    return Parser(*command).parse({arguments.begin() + 1, arguments.end()});
}

}  // namespace ballast::cli
