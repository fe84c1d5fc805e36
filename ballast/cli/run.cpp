#include "ballast/cli/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "ballast/cli/dry_run.hpp"
#include "ballast/cli/interrupt.hpp"
#include "ballast/cli/machine.hpp"
#include "ballast/cli/precautions.hpp"
#include "ballast/cli/progress.hpp"
#include "ballast/cli/report.hpp"
#include "ballast/cli/run_options.hpp"
#include "ballast/cli/runtime_library.hpp"
#include "ballast/cli/workflow_faults.hpp"
#include "ballast/cli/workflow_file.hpp"
#include "ballast/cli/writable.hpp"
#include "ballast/engine/core/write_file.hpp"
#include "ballast/graph/validation.hpp"
#include "ballast/graph/workflow_plan.hpp"

namespace ballast::cli {
namespace {

/// Everything that the run and the dry run refuse alike before anything is loaded or made.
Result<std::vector<graph::WorkflowPhase>> require_all_fit_to_run(
    const graph::ValidWorkflow& workflow, const graph::RuntimeOptions& options,
    const graph::PlanningMachine& machine, const Settings& settings, const std::string& operand) {
    auto phases =
        graph::plan_workflow(workflow, folders(options), machine, settings.text("allocation"));
    if (!phases) return phases;
    for (const auto& folder : picture_folders(workflow, options))
        if (auto writable = require_writable(folder); !writable)
            return fail(std::move(writable).error());
    if (const auto report = settings.text("report"); !report.empty())
        if (auto writable = require_report_file(report, {operand}); !writable)
            return fail(std::move(writable).error());
    if (const auto library = settings.text("runtime-library"); !library.empty())
        if (auto found = find_runtime_library(library); !found)
            return fail(std::move(found).error());
    return phases;
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
    const auto machine = machine_of(*settings);
    if (!machine) return console.fail(machine.error());
    if (const auto limited = require_limited_devices(*settings, *machine); !limited)
        return console.fail(limited.error());
    const auto judged = graph::planning_machine(machine->profile, machine->options);
    const auto catalogue = catalogue_for(judged);
    const auto workflow = read_workflow(invocation.operand, *settings, catalogue);
    if (!workflow) return console.fail(workflow.error());
    auto options = runtime_options(*settings, *machine);
    auto warnings = precautions(*settings, options);
    if (!warnings) return console.fail(warnings.error());
    const auto [report, valid] = graph::validate(*workflow, catalogue, folders(options));
    // a part of the outputs might run, but nobody sits in front to notice that the rest is missing
    if (!report.is_clean()) return refuse_workflow(report, invocation.operand, console);
    const auto phases =
        require_all_fit_to_run(valid, options, judged, *settings, invocation.operand);
    if (!phases) return console.fail(phases.error());
    if (settings->flag("dry-run"))
        return dry_run(*phases, invocation.operand, *settings, *warnings, console);

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
