#include "ballast/cli/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "ballast/cli/atomic_file.hpp"
#include "ballast/cli/console.hpp"
#include "ballast/cli/dry_run.hpp"
#include "ballast/cli/interrupt.hpp"
#include "ballast/cli/progress.hpp"
#include "ballast/cli/report.hpp"
#include "ballast/cli/runtime_library.hpp"
#include "ballast/cli/workflow_file.hpp"
#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/core/settings_file.hpp"
#include "ballast/graph/execution.hpp"
#include "ballast/graph/set_input.hpp"
#include "ballast/graph/validation.hpp"

namespace ballast::cli {
namespace {

Result<Settings> settings_of(const Invocation& invocation) {
    SettingSources sources{.command = kRunCommand,
                           .command_line = invocation.given,
                           .environment = process_environment()};
    for (const auto& given : invocation.given)
        if (given.name.row().name == "settings" && !given.texts.empty()) {
            sources.file_path = given.texts.back();
            auto file = read_settings_file(sources.file_path);
            if (!file) return fail(std::move(file).error());
            sources.file = *std::move(file);
        }
    return resolve_settings(sources);
}

graph::ComputeType type_of(const Settings& settings, SettingName fp32, SettingName bf16,
                           SettingName fp16) {
    if (settings.flag(fp32)) return graph::ComputeType::fp32;
    if (settings.flag(bf16)) return graph::ComputeType::bf16;
    if (settings.flag(fp16)) return graph::ComputeType::fp16;
    return graph::ComputeType::automatic;
}

graph::CachePolicy cache_policy(const Settings& settings) {
    using Kind = graph::CachePolicy::Kind;
    if (settings.flag("cache-none")) return {.kind = Kind::none};
    if (settings.is_given("cache-lru"))
        return {.kind = Kind::lru,
                .entries = static_cast<std::size_t>(settings.integer("cache-lru"))};
    return {};
}

/// A folder for previews that goes with the process, unless the user named one.
class TempFolder {
public:
    explicit TempFolder(const std::string& chosen) : path_(chosen), is_ours_(chosen.empty()) {
        if (!is_ours_) return;
        std::error_code fault;
        auto base = std::filesystem::temp_directory_path(fault);
        if (fault) base = ".";
        path_ = base / fmt::format("ballast-{}-{:08x}", ::getpid(), std::random_device{}());
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder() = default;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    bool is_ours_;
};

graph::RuntimeOptions options_of(const Settings& settings, const std::filesystem::path& temp) {
    graph::RuntimeOptions options;
    for (const auto& folder : settings.list("models")) options.model_roots.emplace_back(folder);
    options.input_folder = settings.text("input");
    options.output_folder = settings.text("output");
    options.temp_folder = temp;
    options.memory_limits = settings.device_sizes("memory-limit");
    options.unet_type = type_of(settings, "fp32-unet", "bf16-unet", "fp16-unet");
    options.vae_type = type_of(settings, "fp32-vae", "bf16-vae", "fp16-vae");
    options.text_encoder_type =
        type_of(settings, "fp32-text-enc", "bf16-text-enc", "fp16-text-enc");
    options.threads = static_cast<int>(settings.integer("threads"));
    options.save_metadata = !settings.flag("disable-metadata");
    return options;
}

Result<graph::Workflow> workflow_of(const Invocation& invocation, const Settings& settings) {
    auto workflow = read_workflow_file(invocation.operand);
    if (!workflow) return workflow;
    for (const auto& assignment : settings.list("set")) {
        auto done = graph::set_input(*workflow, assignment, graph::standard_catalogue());
        if (!done) return fail(std::move(done).error());
    }
    return workflow;
}

/// Where pictures go must be known to work before an hour of sampling, not after it.
Result<void> check_output_folder(const std::filesystem::path& folder) {
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (!fault && ::access(folder.c_str(), W_OK | X_OK) == 0) return {};
    return fail(Error{.code = Code::io,
                      .what = "cannot write pictures",
                      .why = fault ? fault.message() : "the folder is not writable",
                      .place = {.file = folder.string()},
                      .hint = "choose another folder with --output"});
}

ProgressStyle style_of(const Settings& settings) {
    return settings.flag("quiet") ? ProgressStyle::silent : progress_style_of_stderr();
}

void execute(graph::Runtime& runtime, const graph::ValidWorkflow& workflow,
             const Settings& settings, const graph::RuntimeOptions& options, Record& record) {
    const RealClock clock;
    const graph::Folders folders({.model_roots = options.model_roots,
                                  .input = options.input_folder,
                                  .output = options.output_folder,
                                  .temp = options.temp_folder});
    graph::Executor executor(runtime, folders, cache_policy(settings));
    Progress progress(style_of(settings), clock, [&runtime] { return runtime.report().devices; });
    const InterruptScope interrupt;
    graph::RuntimeReport before;
    for (std::int64_t i = 0; i < settings.integer("repeat") && !record.error; ++i) {
        const auto start = clock.now();
        auto result = executor.run(workflow, progress);
        const auto now = runtime.report();
        Pass pass;
        pass.seconds = {.total = clock.seconds_since(start),
                        .load = now.load_seconds - before.load_seconds,
                        .sample = now.sample_seconds - before.sample_seconds,
                        .decode = now.decode_seconds - before.decode_seconds};
        pass.executed = std::move(result.executed);
        pass.cached = std::move(result.cached);
        record.passes.push_back(std::move(pass));
        add_outputs(record.outputs, result.ui, options);
        record.error = std::move(result.error);
        before = now;
    }
    progress.end();
    record.warnings.insert(record.warnings.end(), progress.warnings().begin(),
                           progress.warnings().end());
    record.runtime = runtime.report();
    record.runtime_version = runtime.version();
}

int conclude(const Settings& settings, const Record& record, Console& console) {
    const auto document = to_json(record);
    int status = 0;
    if (record.error) {
        status = exit_status(record.error->code);
        if (console.form() == Form::text)
            console.fail(*record.error);
        else
            Console::complain(*record.error);
    } else if (!settings.flag("quiet")) {
        console.say(to_text(record));
    }
    console.print(document);
    if (const auto file = settings.text("report"); !file.empty()) {
        if (auto written = write_file(file, to_text(document)); !written) {
            Console::complain(written.error());
            if (status == 0) status = exit_status(written.error().code);
        }
    }
    return status;
}

}  // namespace

int run(const Invocation& invocation, Console& console) {
    const auto settings = settings_of(invocation);
    if (!settings) return console.fail(settings.error());
    const auto workflow = workflow_of(invocation, *settings);
    if (!workflow) return console.fail(workflow.error());

    const TempFolder temp(settings->text("temp-directory"));
    auto options = options_of(*settings, temp.path());
    const graph::Folders folders({.model_roots = options.model_roots,
                                  .input = options.input_folder,
                                  .output = options.output_folder,
                                  .temp = options.temp_folder});
    const auto validation = graph::validate(*workflow, graph::standard_catalogue(), folders);
    if (validation.report.refusal) return console.fail(graph::to_error(validation.report));
    if (settings->flag("dry-run"))
        return dry_run(validation.workflow, folders, options.memory_limits, console);

    Record record;
    if (!validation.report.is_clean())
        record.warnings.push_back("a part of the workflow does not run: " +
                                  to_string(graph::to_error(validation.report)));
    if (auto writable = check_output_folder(options.output_folder); !writable)
        return console.fail(writable.error());
    const auto library = find_runtime_library(settings->text("runtime-library"));
    if (!library) return console.fail(library.error());
    const auto runtime = open_runtime(*library, options);
    if (!runtime) return console.fail(runtime.error());
    execute(**runtime, validation.workflow, *settings, options, record);
    return conclude(*settings, record, console);
}

}  // namespace ballast::cli
