#include "ballast/cli/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "ballast/cli/dry_run.hpp"
#include "ballast/cli/free_options.hpp"
#include "ballast/cli/interrupt.hpp"
#include "ballast/cli/machine.hpp"
#include "ballast/cli/precautions.hpp"
#include "ballast/cli/progress.hpp"
#include "ballast/cli/report.hpp"
#include "ballast/cli/run_options.hpp"
#include "ballast/cli/runtime_library.hpp"
#include "ballast/cli/unused_devices.hpp"
#include "ballast/cli/workflow_faults.hpp"
#include "ballast/cli/workflow_file.hpp"
#include "ballast/cli/workflow_fit.hpp"
#include "ballast/cli/writable.hpp"
#include "ballast/engine/core/write_file.hpp"
#include "ballast/graph/validation.hpp"

namespace ballast::cli {
namespace {

/// A workflow that was read and checked, and all that it is run with.
struct Job {
    const graph::ValidWorkflow& workflow;
    const std::string& file;
    const Settings& settings;
    const graph::PlanningMachine& machine;
    graph::RuntimeOptions options;
    std::vector<std::string> warnings;  ///< said already
    FreeOptions freeing;
    std::vector<residency::ExpectedUse> uses;  ///< of models, by one pass
};

Result<WorkflowFit> fit_on(const graph::PlanningMachine& machine, const Job& job) {
    const auto places = folders(job.options);
    return fit_workflow({.workflow = job.workflow,
                         .folders = places,
                         .wishes = wishes_of(job.settings, job.options.allocation),
                         .file = job.file},
                        machine);
}

/// Everything that the run and the dry run refuse alike before anything is loaded or made.
Result<WorkflowFit> require_all_to_run(const Job& job) {
    auto fit = fit_on(job.machine, job);
    if (!fit) return fit;
    if (auto named = require_named_models(job.freeing, fit->models); !named)
        return fail(std::move(named).error());
    for (const auto& folder : picture_folders(job.workflow, job.options))
        if (auto writable = require_writable(folder); !writable)
            return fail(std::move(writable).error());
    if (const auto report = job.settings.text("report"); !report.empty())
        if (auto writable = require_report_file(report, {job.file}); !writable)
            return fail(std::move(writable).error());
    if (const auto library = job.settings.text("runtime-library"); !library.empty())
        if (auto found = find_runtime_library(library); !found)
            return fail(std::move(found).error());
    return fit;
}

/// Says it at once and keeps it for the report.
void warn(Job& job, std::vector<std::string> warnings) {
    for (auto& warning : warnings) {
        if (!job.settings.flag("quiet")) Console::note("warning: " + warning);
        job.warnings.push_back(std::move(warning));
    }
}

/// Passes on what does not fit, unless that hangs on pictures which nobody has seen yet.
Result<void> require_fit(const WorkflowFit& fit, Job& job) {
    if (!fit.refusal) return {};
    if (!fit.is_refusal_assumed) return fail(*fit.refusal);
    warn(job, {fmt::format("pictures of 512 x 512 would not fit: {}", fit.refusal->why)});
    return {};
}

/// The same on those devices that the runtime knows, if it knows fewer than the machine has.
Result<void> require_fit_in(const graph::Runtime& runtime, Job& job) {
    const auto devices = runtime.devices();
    auto unused = devices_without_runtime(job.machine.devices, devices);
    if (unused.empty()) return {};
    warn(job, std::move(unused));
    auto machine = graph::planning_machine(job.machine.profile, job.machine.options, devices,
                                           job.machine.kind);
    machine.threads = job.machine.threads;
    const auto fit = fit_on(machine, job);
    if (!fit) return fail(fit.error());
    return require_fit(*fit, job);
}

/// What is odd about the call or the machine.
Result<std::vector<std::string>> precautions(const Settings& settings,
                                             const graph::PlanningMachine& machine,
                                             graph::RuntimeOptions& options) {
    auto warnings = odd_model_folders(settings);
    if (!warnings) return warnings;
    std::ranges::move(unknown_variables(), std::back_inserter(*warnings));
    std::ranges::move(devices_without_storage(machine.assessment), std::back_inserter(*warnings));
    options.threads = sensible_threads(settings.integer("threads"),
                                       std::thread::hardware_concurrency(), *warnings);
    return warnings;
}

Seconds seconds_between(const graph::RuntimeReport& before, const graph::RuntimeReport& after,
                        double total) {
    return {.total = total,
            .load = after.load_seconds - before.load_seconds,
            .sample = after.sample_seconds - before.sample_seconds,
            .decode = after.decode_seconds - before.decode_seconds};
}

/// Tells what is in use, and frees what was asked for.
std::optional<residency::FreeAnswer> end_pass(residency::FreeFlow& flow, const FreeOptions& freeing,
                                              graph::Executor& executor) {
    flow.memory().load("after_run");
    request_between(freeing, flow);
    return flow.end_prompt([&executor] { executor.clear(); });
}

/// Runs the workflow as often as asked for, or until something stops it.
Record execute(const Job& job, graph::Runtime& runtime, InterruptScope& interrupts) {
    const auto& settings = job.settings;
    const RealClock clock;
    const auto places = folders(job.options);
    graph::Executor executor(runtime, places, cache_policy(settings));
    Progress progress(settings.flag("quiet") ? ProgressStyle::silent : progress_style_of_stderr(),
                      clock, [&runtime] { return runtime.report().devices; });
    auto* flow = runtime.flow();
    Record record;
    record.runtime_version = runtime.version();
    for (std::int64_t pass = 0; pass < settings.integer("repeat") && !record.error; ++pass) {
        const auto before = runtime.report();
        const auto start = clock.now();
        if (flow != nullptr) {
            flow->begin_prompt();
            flow->registry().expect(expected_uses(job.uses, settings.integer("repeat") - pass));
        }
        auto result = executor.run(job.workflow, progress);
        record.passes.push_back(
            {.seconds = seconds_between(before, runtime.report(), clock.seconds_since(start)),
             .executed = std::move(result.executed),
             .cached = std::move(result.cached)});
        add_outputs(record.outputs, result.ui, job.options);
        record.error = std::move(result.error);
        const bool is_last = record.error || pass + 1 == settings.integer("repeat");
        if (flow != nullptr)
            record.passes.back().freed =
                end_pass(*flow, is_last ? FreeOptions{} : job.freeing, executor);
    }
    if (flow != nullptr) record.memory = flow->status();
    interrupts.work_ended();
    progress.end();
    record.runtime = runtime.report();
    record.is_simulated = job.options.is_simulated;
    record.warnings = job.warnings;
    std::ranges::copy(progress.warnings(), std::back_inserter(record.warnings));
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

int run_job(Job job, Console& console) {
    const auto library = find_runtime_library(job.settings.text("runtime-library"));
    if (!library) return console.fail(library.error());
    InterruptScope interrupts;
    console.keep_for_results();
    job.options.log = run_log(job.settings);
    const auto runtime = open_runtime(*library, job.options);
    if (!runtime) return console.fail(runtime.error());
    if (const auto fits = require_fit_in(**runtime, job); !fits) return console.fail(fits.error());
    for (const auto& folder : picture_folders(job.workflow, job.options))
        if (const auto made = make_folder(folder); !made) return console.fail(made.error());
    const auto record = execute(job, **runtime, interrupts);
    const int status = publish(record, job.settings, console);
    console.flush();
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
    auto judged = planning_machine_of(*machine);
    const auto catalogue = catalogue_for(judged);
    const auto workflow = read_workflow(invocation.operand, *settings, catalogue);
    if (!workflow) return console.fail(workflow.error());
    auto options = runtime_options(*settings, *machine);
    auto odd = precautions(*settings, judged, options);
    if (!odd) return console.fail(odd.error());
    judged.threads = graph::arithmetic_threads(options);
    const auto [report, valid] = graph::validate(*workflow, catalogue, folders(options));
    Job job{.workflow = valid,
            .file = invocation.operand,
            .settings = *settings,
            .machine = judged,
            .options = std::move(options),
            .warnings = {},
            .freeing = free_options(*settings),
            .uses = {}};
    warn(job, *std::move(odd));
    if (asks_for_nothing(job.freeing, settings->integer("repeat")))
        warn(job, {"nothing is freed between runs, since there is one: give --repeat"});
    // a part of the outputs might run, but nobody sits in front to notice that the rest is missing
    if (!report.is_clean()) return refuse_workflow(report, invocation.operand, console);
    const auto fit = require_all_to_run(job);
    if (!fit) return console.fail(fit.error());
    job.uses = uses_of(fit->models);
    if (settings->flag("dry-run")) return dry_run(*fit, *settings, job.warnings, console);
    if (const auto fits = require_fit(*fit, job); !fits) return console.fail(fits.error());
    return run_job(std::move(job), console);
}

}  // namespace ballast::cli
