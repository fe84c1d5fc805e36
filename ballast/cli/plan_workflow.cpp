#include "ballast/cli/plan_workflow.hpp"
#include "ballast/cli/free_options.hpp"

#include <fmt/format.h>

#include <array>

#include "ballast/cli/placement_options.hpp"
#include "ballast/cli/plan_chart.hpp"
#include "ballast/cli/precautions.hpp"
#include "ballast/cli/run_options.hpp"
#include "ballast/cli/workflow_faults.hpp"
#include "ballast/cli/workflow_file.hpp"
#include "ballast/cli/workflow_fit.hpp"
#include "ballast/cli/workflow_plan_text.hpp"
#include "ballast/engine/core/write_file.hpp"
#include "ballast/graph/validation.hpp"

namespace ballast::cli {
namespace {

/// What a workflow says itself, or what makes sense for a single model only.
constexpr std::array<SettingName, 7> kOfOneModel{"width",      "height",       "batch",    "frames",
                                                 "activation", "text-encoder", "placement"};

Result<void> require_options_of_workflows(const Settings& settings) {
    for (const auto name : kOfOneModel)
        if (settings.is_given(name))
            return fail(plan_usage(fmt::format("--{}", name.row().name),
                                   "it is for single models; a workflow says for itself what it "
                                   "makes, and with which models",
                                   "change the workflow with --set NODE.INPUT=VALUE"));
    if (settings.is_given("compute") && !settings.is_given("allocation") &&
        !settings.is_given("virtual-vram"))
        return fail(plan_usage("--compute", "the automatic plan of a workflow chooses the device",
                               "say with --allocation or in the loaders what goes where"));
    return {};
}

/// A list of blocks is an object, too.
Result<void> require_nodes(const graph::Workflow& workflow, const std::string& file) {
    const auto* blocks = workflow.find("blocks");
    if (blocks == nullptr || !blocks->body.is_array()) return {};
    return fail(plan_usage(file, "it is a list of blocks, no workflow",
                           fmt::format("write ballast plan --blocks {}", file)));
}

}  // namespace

int plan_workflow(const std::string& file, const Settings& settings,
                  const graph::PlanningMachine& machine, Console& console) {
    if (const auto fit = require_options_of_workflows(settings); !fit)
        return console.fail(fit.error());
    const auto allocation = allocation_text(settings);
    if (!allocation) return console.fail(allocation.error());
    const auto catalogue = catalogue_for(machine);
    const auto workflow = read_workflow(file, settings, catalogue);
    if (!workflow) return console.fail(workflow.error());
    if (const auto fit = require_nodes(*workflow, file); !fit) return console.fail(fit.error());
    const auto warnings = odd_model_folders(settings);
    if (!warnings) return console.fail(warnings.error());
    for (const auto& warning : *warnings) Console::note("warning: " + warning);
    const auto places = folders(folder_options(settings));
    const auto [report, valid] = graph::validate(*workflow, catalogue, places);
    if (!report.is_clean()) return refuse_workflow(report, file, console);
    const auto fit = fit_workflow({.workflow = valid,
                                   .folders = places,
                                   .wishes = wishes_of(settings, *allocation),
                                   .file = file},
                                  machine);
    if (!fit) return console.fail(fit.error());
    if (const auto named = require_named_models({.kept = settings.list("keep")}, fit->models);
        !named)
        return console.fail(named.error());

    if (const auto chart = settings.text("chart"); !chart.empty())
        if (const auto drawn = write_file(chart, plan_chart(plans_of(fit->phases)), "the chart");
            !drawn)
            return console.fail(drawn.error());
    const auto detail = settings.flag("explain") ? Detail::everything : Detail::summary;
    console.say(workflow_plan_text(fit->phases, detail));
    console.print(workflow_plan_json(fit->phases, *warnings, fit->refusal));
    if (!fit->refusal) return 0;
    if (console.form() == Form::text) Console::complain(*fit->refusal);
    return exit_status(fit->refusal->code);
}

}  // namespace ballast::cli
