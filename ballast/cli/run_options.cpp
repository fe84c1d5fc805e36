#include "ballast/cli/run_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ballast/cli/command_settings.hpp"
#include "ballast/cli/progress.hpp"
#include "ballast/engine/core/json_log.hpp"

namespace ballast::cli {
namespace {

using graph::ComputeType;

struct TypeSettings {
    SettingName fp32, bf16, fp16;
};
constexpr TypeSettings kUnet{"fp32-unet", "bf16-unet", "fp16-unet"};
constexpr TypeSettings kVae{"fp32-vae", "bf16-vae", "fp16-vae"};
constexpr TypeSettings kTextEncoder{"fp32-text-enc", "bf16-text-enc", "fp16-text-enc"};

ComputeType compute_type(const Settings& settings, const TypeSettings& names) {
    if (settings.flag(names.fp32)) return ComputeType::fp32;
    if (settings.flag(names.bf16)) return ComputeType::bf16;
    if (settings.flag(names.fp16)) return ComputeType::fp16;
    return ComputeType::automatic;
}

residency::RetentionWishes retention_of(const Settings& settings) {
    return {.by_default = residency::parse_retention(settings.text("default-retention"))
                              .value_or(residency::Retention::release),
            .is_strict = settings.flag("strict-retention"),
            .kept = settings.list("keep")};
}

LogLevel log_level(const Settings& settings) {
    if (settings.flag("quiet")) return LogLevel::error;
    if (settings.flag("verbose")) return LogLevel::debug;
    return parse_log_level(settings.text("log-level")).value_or(LogLevel::warning);
}

/// Standard error, and the file that ComfyUI-MultiGPU's variables name.
std::vector<std::shared_ptr<LogSink>> log_sinks(LogLevel least) {
    static const RealWallClock kClock;
    std::vector<std::shared_ptr<LogSink>> sinks{log_beside_progress(least)};
    const auto variable = [](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
    if (const auto options = json_log_options(variable))
        sinks.push_back(json_log_sink(*options, kClock));
    return sinks;
}

}  // namespace

Result<Settings> run_settings(const std::vector<GivenSetting>& command_line,
                              std::string_view workflow) {
    if (settings_file_of(command_line) == "-" && workflow == "-")
        return fail(Error{.code = Code::usage,
                          .what = "cannot read the settings",
                          .why = "standard input can be read once, and the workflow comes from it",
                          .place = {.key = "--settings"},
                          .hint = "put one of the two into a file"});
    return command_settings(kRunCommand, command_line);
}

Result<void> require_limited_devices(const Settings& settings, const Machine& machine) {
    for (const auto& [device, ignored] : settings.device_sizes("memory-limit")) {
        const auto is_there = std::ranges::any_of(
            machine.assessment.devices,
            [id = device](const machine::DeviceAssessment& each) { return each.id == id; });
        if (is_there) continue;
        std::string present;
        for (const auto& each : machine.assessment.devices)
            present += (present.empty() ? "" : ", ") + to_string(each.id);
        return fail(Error{.code = Code::usage,
                          .what = "cannot limit the memory",
                          .why = fmt::format("there is no device {}", to_string(device)),
                          .place = {.key = "--memory-limit"},
                          .hint = "present: " + present});
    }
    return {};
}

graph::RuntimeOptions folder_options(const Settings& settings) {
    graph::RuntimeOptions options;
    for (const auto& root : settings.list("models")) options.model_roots.emplace_back(root);
    options.input_folder = settings.text("input");
    options.output_folder = settings.text("output");
    options.temp_folder = settings.text("temp-directory");
    if (options.temp_folder.empty()) options.temp_folder = options.output_folder / "temp";
    return options;
}

graph::RuntimeOptions runtime_options(const Settings& settings, const Machine& machine) {
    auto options = folder_options(settings);
    options.profile = machine.profile;
    options.is_simulated = machine.is_simulated;
    options.is_real_time = settings.text("clock") == "real";
    options.memory = machine.options;
    options.allocation = settings.text("allocation");
    options.retention = retention_of(settings);
    options.unet_type = compute_type(settings, kUnet);
    options.vae_type = compute_type(settings, kVae);
    options.text_encoder_type = compute_type(settings, kTextEncoder);
    options.threads = static_cast<int>(settings.integer("threads"));
    options.save_metadata = !settings.flag("disable-metadata");
    options.logs_memory = settings.flag("memory-log");
    return options;
}

graph::WorkflowWishes wishes_of(const Settings& settings, std::string allocation) {
    return {.allocation = std::move(allocation), .retention = retention_of(settings)};
}

Log run_log(const Settings& settings) { return Log(log_sinks(log_level(settings))); }

graph::CachePolicy cache_policy(const Settings& settings) {
    using Kind = graph::CachePolicy::Kind;
    if (settings.flag("cache-none")) return {.kind = Kind::none};
    if (settings.is_given("cache-lru"))
        return {.kind = Kind::lru,
                .entries = static_cast<std::size_t>(settings.integer("cache-lru"))};
    return {};
}

graph::Folders folders(const graph::RuntimeOptions& options) {
    return graph::Folders({.model_roots = options.model_roots,
                           .input = options.input_folder,
                           .output = options.output_folder,
                           .temp = options.temp_folder});
}

}  // namespace ballast::cli
