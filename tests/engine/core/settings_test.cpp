#include "ballast/engine/core/settings.hpp"

#include <gmock/gmock.h>

namespace ballast {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::HasSubstr;

GivenSetting given(SettingName name, std::vector<std::string> texts) {
    return {name, std::move(texts)};
}

Environment environment(std::map<std::string, std::string> variables) {
    return
        [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            if (found == variables.end()) return std::nullopt;
            return found->second;
        };
}

Settings resolved(const SettingSources& sources) {
    auto settings = resolve_settings(sources);
    EXPECT_TRUE(settings) << to_string(settings.error());
    return *settings;
}

Error refusal(const SettingSources& sources) {
    const auto settings = resolve_settings(sources);
    EXPECT_FALSE(settings);
    return settings ? Error{} : settings.error();
}

TEST(SettingsTable, NamesAndAliasesAreUnique) {
    std::map<std::string_view, int> count;
    for (const auto& setting : kSettings) {
        ++count[setting.name];
        if (!setting.alias.empty()) ++count[setting.alias];
    }
    for (const auto& [name, times] : count) EXPECT_EQ(times, 1) << name;
}

TEST(SettingsTable, EveryRowIsComplete) {
    for (const auto& setting : kSettings) {
        EXPECT_FALSE(setting.help.empty()) << setting.name;
        EXPECT_NE(setting.help.back(), '.') << setting.name;
        EXPECT_EQ(setting.value_name.empty(), setting.type == SettingType::flag) << setting.name;
        const bool has_choices =
            setting.type == SettingType::choice || setting.type == SettingType::device_choice;
        EXPECT_EQ(setting.choices.empty(), !has_choices) << setting.name;
        EXPECT_NE(setting.commands, 0U) << setting.name;
    }
}

TEST(SettingsTable, EveryDefaultIsAValueOfItsSetting) {
    const auto settings = resolved({});
    EXPECT_EQ(settings.integer("repeat"), 1);
    for (const auto& setting : kSettings) {
        if (setting.fallback.empty()) continue;
        const auto name = *find_setting(setting.name);
        EXPECT_TRUE(
            resolve_settings({.command = setting.commands,
                              .command_line = {given(name, {std::string(setting.fallback)})}}))
            << setting.name;
    }
}

TEST(SettingsTable, DerivesEnvironmentNamesFromOptionNames) {
    EXPECT_EQ(environment_name(SettingName("reserve-vram").row()), "BALLAST_RESERVE_VRAM");
    EXPECT_EQ(environment_name(SettingName("memory-limit").row()), "BALLAST_MEMORY_LIMIT");
    EXPECT_EQ(environment_name(SettingName("dry-run").row()), "");
}

TEST(Settings, TakeDefaultsWhenNothingIsGiven) {
    const auto settings = resolved({});
    EXPECT_THAT(settings.list("models"), ElementsAre("models"));
    EXPECT_EQ(settings.text("output"), "output");
    EXPECT_EQ(settings.text("temp-directory"), "");
    EXPECT_FALSE(settings.flag("quiet"));
    EXPECT_EQ(settings.source("output"), SettingSource::fallback);
    EXPECT_FALSE(settings.is_given("output"));
}

TEST(Settings, CommandLineWinsOverEnvironmentOverFileOverDefault) {
    SettingSources sources{.file = {given("output", {"from-file"})}};
    EXPECT_EQ(resolved(sources).text("output"), "from-file");
    EXPECT_EQ(resolved(sources).source("output"), SettingSource::file);
    sources.environment = environment({{"BALLAST_OUTPUT", "from-environment"}});
    EXPECT_EQ(resolved(sources).text("output"), "from-environment");
    EXPECT_EQ(resolved(sources).source("output"), SettingSource::environment);
    sources.command_line = {given("output", {"from-command-line"})};
    EXPECT_EQ(resolved(sources).text("output"), "from-command-line");
    EXPECT_EQ(resolved(sources).source("output"), SettingSource::command_line);
}

TEST(Settings, TakeTheLastOfAValueGivenTwice) {
    EXPECT_EQ(
        resolved({.command_line = {given("output", {"a"}), given("output", {"b"})}}).text("output"),
        "b");
}

TEST(Settings, TakeAListWholeFromOneSource) {
    const auto settings = resolved({.command_line = {given("models", {"a", "b"})},
                                    .environment = environment({{"BALLAST_MODELS", "c"}}),
                                    .file = {given("models", {"d"})}});
    EXPECT_THAT(settings.list("models"), ElementsAre("a", "b"));
}

TEST(Settings, SplitListsOfTheEnvironment) {
    const auto settings = resolved({.environment = environment({{"BALLAST_MODELS", "/a::/b"}})});
    EXPECT_THAT(settings.list("models"), ElementsAre("/a", "/b"));
}

TEST(Settings, TreatEmptyVariablesAsNotSet) {
    EXPECT_EQ(resolved({.environment = environment({{"BALLAST_OUTPUT", ""}})}).text("output"),
              "output");
}

TEST(Settings, ReadFlagsOfTheEnvironmentAsWords) {
    for (const auto* word : {"1", "true", "Yes", "ON"})
        EXPECT_TRUE(
            resolved({.environment = environment({{"BALLAST_QUIET", word}})}).flag("quiet"));
    for (const auto* word : {"0", "false", "No", "off"})
        EXPECT_FALSE(
            resolved({.environment = environment({{"BALLAST_QUIET", word}})}).flag("quiet"));
    const auto error = refusal({.environment = environment({{"BALLAST_QUIET", "maybe"}})});
    EXPECT_EQ(error.code, Code::usage);
    EXPECT_THAT(to_string(error), HasSubstr("BALLAST_QUIET"));
    EXPECT_THAT(to_string(error), HasSubstr("maybe"));
}

TEST(Settings, IgnoreVariablesOfSettingsForTheCommandLineOnly) {
    EXPECT_FALSE(
        resolved({.environment = environment({{"BALLAST_DRY_RUN", "1"}})}).flag("dry-run"));
}

TEST(Settings, IgnoreSettingsOfOtherCommands) {
    EXPECT_TRUE(resolve_settings(
        {.command = kInspectCommand, .environment = environment({{"BALLAST_THREADS", "many"}})}));
}

TEST(Settings, NameTheSourceOfABadValue) {
    const auto on_command_line = refusal({.command_line = {given("repeat", {"often"})}});
    EXPECT_EQ(on_command_line.code, Code::usage);
    EXPECT_EQ(on_command_line.place.key, "--repeat");
    const auto in_environment = refusal({.environment = environment({{"BALLAST_THREADS", "-1"}})});
    EXPECT_EQ(in_environment.place.key, "environment variable BALLAST_THREADS");
    const auto in_file =
        refusal({.file = {given("threads", {"5000"})}, .file_path = "my-settings.json"});
    EXPECT_EQ(in_file.place.file, "my-settings.json");
    EXPECT_EQ(in_file.place.key, "threads");
    EXPECT_THAT(in_file.why, HasSubstr("0 to 4096"));
}

TEST(Settings, RefuseWhatIsNoWholeNumber) {
    for (const auto* text : {"", "1.5", "0x10", "1e3", "99999999999999999999", " 1", "0", "1 "})
        EXPECT_EQ(refusal({.command_line = {given("repeat", {text})}}).code, Code::usage) << text;
}

TEST(Settings, OfferTheNearestChoice) {
    const auto error = refusal({.command_line = {given("log-level", {"warnin"})}});
    EXPECT_EQ(error.code, Code::usage);
    EXPECT_THAT(error.why, HasSubstr("debug, info, focus, warning, error"));
    EXPECT_THAT(error.hint, HasSubstr("'warning'"));
}

TEST(Settings, RefusePathsThatNoFileCanHave) {
    const std::string path("a\0b", 3);
    const auto error = refusal({.file = {given("output", {path})}, .file_path = "s.json"});
    EXPECT_EQ(error.code, Code::usage);
    EXPECT_EQ(error.place.key, "output");
    EXPECT_THAT(error.why, HasSubstr("zero character"));
}

TEST(Settings, SayWhatANumberMayBe) {
    EXPECT_THAT(refusal({.command_line = {given("threads", {"many"})}}).hint,
                HasSubstr("--threads 0"));
}

TEST(Settings, RefuseEmptyPaths) {
    EXPECT_EQ(refusal({.command_line = {given("output", {""})}}).code, Code::usage);
}

TEST(Settings, AnswerNotAvailableYetForWhatIsAnnounced) {
    for (const auto& error :
         {refusal({.command_line = {given("force-fp32", {"true"})}}),
          refusal({.environment = environment({{"BALLAST_DISABLE_SMART_MEMORY", "1"}})}),
          refusal({.file = {given("fast", {"all"})}}),
          refusal({.command_line = {given("preview", {"text"})}})}) {
        EXPECT_EQ(error.code, Code::not_available);
        EXPECT_EQ(error.what, "not available yet");
        EXPECT_EQ(exit_status(error.code), 2);
    }
    EXPECT_TRUE(resolve_settings({.file = {given("force-fp32", {"false"})}}));
    EXPECT_TRUE(resolve_settings(
        {.command = kDevicesCommand, .command_line = {given("force-fp32", {"true"})}}))
        << "what one command only announces another may have";
    EXPECT_TRUE(resolve_settings({.command_line = {given("preview", {"none"})}}));
}

TEST(Settings, RefuseTwoOfAnExclusiveSetInOneSource) {
    const auto error =
        refusal({.command_line = {given("fp32-unet", {"true"}), given("bf16-unet", {"true"})}});
    EXPECT_EQ(error.code, Code::usage);
    EXPECT_THAT(to_string(error), HasSubstr("--fp32-unet"));
    EXPECT_THAT(to_string(error), HasSubstr("--bf16-unet"));
    EXPECT_TRUE(resolve_settings(
        {.command_line = {given("fp32-unet", {"true"}), given("bf16-vae", {"true"})}}));
}

TEST(Settings, LetTheStrongestSourceDecideAnExclusiveSet) {
    const auto settings = resolved(
        {.command_line = {given("bf16-unet", {"true"})},
         .environment = environment({{"BALLAST_FP32_UNET", "1"}, {"BALLAST_QUIET", "1"}})});
    EXPECT_TRUE(settings.flag("bf16-unet"));
    EXPECT_FALSE(settings.flag("fp32-unet"));
    EXPECT_TRUE(settings.flag("quiet"));
}

TEST(Settings, KeepAWeakerExclusiveSettingWhenAStrongerSourceTurnsAnotherOff) {
    const auto settings = resolved({.environment = environment({{"BALLAST_BF16_UNET", "0"}}),
                                    .file = {given("fp32-unet", {"true"})}});
    EXPECT_TRUE(settings.flag("fp32-unet"));
    EXPECT_FALSE(settings.flag("bf16-unet"));
}

TEST(Settings, ReadMemoryLimits) {
    const auto settings = resolved({.command_line = {given("memory-limit", {"cpu=1.5 GiB"})}});
    EXPECT_EQ(settings.device_sizes("memory-limit").at(kCpu), 1536_MiB);
}

TEST(Settings, RefuseMemoryLimitsThatMeanNothing) {
    for (const auto* text : {"4gb", "gpu=4gb", "cpu", "cpu=", "cpu=much", "cpu=-1", "=4gb", ""})
        EXPECT_EQ(refusal({.command_line = {given("memory-limit", {text})}}).code, Code::usage)
            << text;
    const auto twice = refusal({.command_line = {given("memory-limit", {"cpu=1g", "cpu=2g"})}});
    EXPECT_THAT(twice.why, HasSubstr("cpu is given twice"));
}

TEST(Settings, RefuseToReadASettingAsAnotherType) {
    const auto settings = resolved({});
    EXPECT_THROW(static_cast<void>(settings.flag("repeat")), std::logic_error);
}

}  // namespace
}  // namespace ballast
