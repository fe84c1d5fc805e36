#include "ballast/cli/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "ballast/cli/dry_run.hpp"
#include "ballast/cli/interrupt.hpp"
#include "ballast/cli/planned_models.hpp"
#include "ballast/cli/precautions.hpp"
#include "ballast/cli/progress.hpp"
#include "ballast/cli/report.hpp"
#include "ballast/cli/run_options.hpp"
#include "ballast/cli/runtime_library.hpp"
#include "ballast/cli/workflow_file.hpp"
#include "ballast/cli/writable.hpp"
#include "ballast/engine/core/write_file.hpp"
#include "ballast/graph/set_input.hpp"
#include "ballast/graph/validation.hpp"

namespace ballast::cli {
namespace {

/// More than this scroll the first ones away.
constexpr std::size_t kShownFaults = 20;

Error error_of(const graph::Fault& fault, const graph::NodeFaults& node, const std::string& file) {
    // the place names the input already
    std::string why = fault.details == fault.input ? "" : fault.details;
    if (const auto named = fault.input + " - "; why.starts_with(named)) why.erase(0, named.size());
    return {.code = Code::bad_workflow,
            .what = fault.message,
            .why = std::move(why),
            .place = {.file = file,
                      .node = fmt::format("{} ({})", node.node, node.class_type),
                      .key = fault.input},
            .hint = fault.hint};
}

/// All faults, one line each; with --json one error that also carries `node_errors`.
int refuse(const graph::ValidationReport& report, const std::string& file, Console& console) {
    auto error = graph::to_error(report);
    if (error.place.file.empty()) error.place.file = file;
    if (console.form() == Form::json) {
        auto document = error_document(error);
        document["error"]["node_errors"] = report.node_errors();
        console.print(document);
        return exit_status(error.code);
    }
    std::size_t count = 0;
    for (const auto& node : report.node_faults)
        for (const auto& fault : node.faults)
            if (++count <= kShownFaults) Console::complain(error_of(fault, node, file));
    if (count > kShownFaults)
        Console::note(fmt::format("... and {} more faults", count - kShownFaults));
    if (report.node_faults.empty()) Console::complain(error);
    return exit_status(error.code);
}

/// Everything that the run and the dry run refuse alike before anything is loaded or made.
Result<std::vector<PlannedModel>> require_all_fit_to_run(const graph::ValidWorkflow& workflow,
                                                         const graph::RuntimeOptions& options,
                                                         const Settings& settings,
                                                         const std::string& operand) {
    auto models = plan_models(workflow, options);
    if (!models) return models;
    for (const auto& folder : picture_folders(workflow, options))
        if (auto writable = require_writable(folder); !writable)
            return fail(std::move(writable).error());
    if (const auto report = settings.text("report"); !report.empty())
        if (auto writable = require_report_file(report, {operand}); !writable)
            return fail(std::move(writable).error());
    if (const auto library = settings.text("runtime-library"); !library.empty())
        if (auto found = find_runtime_library(library); !found)
            return fail(std::move(found).error());
    return models;
}

/// What is odd about the call, said at once and kept for the report.
Result<std::vector<std::string>> precautions(const Settings& settings,
                                             graph::RuntimeOptions& options) {
    auto warnings = odd_model_folders(settings);
    if (!warnings) return warnings;
    std::ranges::move(unknown_variables(), std::back_inserter(*warnings));
    options.threads = sensible_threads(settings.integer("threads"),
                                       std::thread::hardware_concurrency(), *warnings);
    if (!settings.flag("quiet"))
        for (const auto& warning : *warnings) Console::note("warning: " + warning);
    return warnings;
}

Seconds seconds_between(const graph::RuntimeReport& before, const graph::RuntimeReport& after,
                        double total) {
    return {.total = total,
            .load = after.load_seconds - before.load_seconds,
            .sample = after.sample_seconds - before.sample_seconds,
            .decode = after.decode_seconds - before.decode_seconds};
}

/// Runs the workflow as often as asked for, or until something stops it.
Record execute(const graph::ValidWorkflow& workflow, graph::Runtime& runtime,
               const graph::RuntimeOptions& options, const Settings& settings,
               InterruptScope& interrupts) {
    const RealClock clock;
    const auto places = folders(options);
    graph::Executor executor(runtime, places, cache_policy(settings));
    Progress progress(settings.flag("quiet") ? ProgressStyle::silent : progress_style_of_stderr(),
                      clock, [&runtime] { return runtime.report().devices; });
    Record record;
    record.runtime_version = runtime.version();
    for (std::int64_t pass = 0; pass < settings.integer("repeat") && !record.error; ++pass) {
        const auto before = runtime.report();
        const auto start = clock.now();
        auto result = executor.run(workflow, progress);
        record.passes.push_back(
            {.seconds = seconds_between(before, runtime.report(), clock.seconds_since(start)),
             .executed = std::move(result.executed),
             .cached = std::move(result.cached)});
        add_outputs(record.outputs, result.ui, options);
        record.error = std::move(result.error);
    }
    interrupts.work_ended();
    progress.end();
    record.runtime = runtime.report();
    record.warnings = progress.warnings();
    return record;
}

/// Prints the record in the wanted form; returns the exit status.
int publish(const Record& record, const Settings& settings, Console& console) {
    int status = record.error ? exit_status(record.error->code) : 0;
    const auto document = to_json(record);
    if (const auto file = settings.text("report"); !file.empty()) {
        const auto written = write_file(file, to_text(document), "report");
        // the run itself is done; its document still tells so
        if (!written) Console::complain(written.error());
        if (!written && status == 0) status = exit_status(written.error().code);
    }
    console.print(document);
    if (record.error && console.form() == Form::text) Console::complain(*record.error);
    if (!record.error && !settings.flag("quiet")) console.say(to_text(record));
    return status;
}

}  // namespace

int run(const Invocation& invocation, Console& console) {
    const auto settings = run_settings(invocation.given, invocation.operand);
    if (!settings) return console.fail(settings.error());
    auto workflow = read_workflow_file(invocation.operand);
    if (!workflow) return console.fail(workflow.error());
    for (const auto& assignment : settings->list("set")) {
        const auto done = graph::set_input(*workflow, assignment, graph::standard_catalogue());
        if (!done) return console.fail(done.error());
    }
    const auto machine = machine_of(*settings);
    if (!machine) return console.fail(machine.error());
    if (const auto limited = require_limited_devices(*settings, *machine); !limited)
        return console.fail(limited.error());
    auto options = runtime_options(*settings, *machine);
    auto warnings = precautions(*settings, options);
    if (!warnings) return console.fail(warnings.error());
    const auto [report, valid] =
        graph::validate(*workflow, graph::standard_catalogue(), folders(options));
    // a part of the outputs might run, but nobody sits in front to notice that the rest is missing
    if (!report.is_clean()) return refuse(report, invocation.operand, console);
    const auto models = require_all_fit_to_run(valid, options, *settings, invocation.operand);
    if (!models) return console.fail(models.error());
    if (settings->flag("dry-run"))
        return dry_run(*models, options, *settings, *std::move(warnings), console);

    const auto library = find_runtime_library(settings->text("runtime-library"));
    if (!library) return console.fail(library.error());
    for (const auto& folder : picture_folders(valid, options))
        if (const auto made = make_folder(folder); !made) return console.fail(made.error());
    InterruptScope interrupts;
    console.keep_for_results();
    const auto runtime = open_runtime(*library, options);
    if (!runtime) return console.fail(runtime.error());

    auto record = execute(valid, **runtime, options, *settings, interrupts);
    record.is_simulated = machine->is_simulated;
    record.warnings.insert(record.warnings.begin(), warnings->begin(), warnings->end());
    const int status = publish(record, *settings, console);
    console.flush();
    return status;
}

}  // namespace ballast::cli
