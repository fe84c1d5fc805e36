#include "ballast/cli/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ballast/cli/command_settings.hpp"
#include "ballast/cli/machine.hpp"
#include "ballast/cli/models_to_plan.hpp"
#include "ballast/cli/placement_options.hpp"
#include "ballast/cli/plan_chart.hpp"
#include "ballast/cli/plan_text.hpp"
#include "ballast/cli/plan_workflow.hpp"
#include "ballast/cli/run_options.hpp"
#include "ballast/cli/workflow_file.hpp"
#include "ballast/cli/writable.hpp"
#include "ballast/engine/core/write_file.hpp"
#include "ballast/engine/plan/distorch2.hpp"
#include "ballast/engine/residency/phase.hpp"

namespace ballast::cli {
namespace {

/// Where the policy alone decides, ComfyUI-MultiGPU's placement can be asked for.
Result<void> place_as_distorch2(const plan::PlanRequest& request, const std::string& text,
                                const plan::AllocationContext& context, plan::Plan& made) {
    const auto placed = plan::place_like_distorch2({.blocks = placement_blocks(request.blocks),
                                                    .role = request.role,
                                                    .text = text,
                                                    .machine = context});
    if (!placed) return fail(placed.error());
    made.compute = placed->compute;
    made.homes = placed->homes;
    made.per_device = placed->per_device;
    made.quotas = placed->quotas;
    made.expected.reset();
    made.explanation = {fmt::format("as ComfyUI-MultiGPU places it: {}", placed->fractions)};
    return {};
}

struct NamedModel {
    std::string name;
    graph::Planned planned;

    [[nodiscard]] NamedPlan plan() const { return {name, planned.request, planned.plan}; }
};

/// Plans the models of one file, which stay beside one another.
class Planning {
public:
    Planning(const Settings& settings, const graph::PlanningMachine& machine)
        : settings_(settings), machine_(machine) {}

    Result<NamedModel> plan(ModelToPlan model) {
        auto text = allocation_text(settings_);
        if (!text) return fail(text.error());
        if (!model.is_distributed) text->clear();
        const auto compute = compute_device(settings_, machine_.devices);
        if (!compute) return fail(compute.error());
        const auto activations = activations_asked_for(settings_);
        if (!activations) return fail(activations.error());
        graph::PlacementWish wish{
            .compute = *compute, .allocation = *text, .activations = *activations};
        if (settings_.flag("text-encoder")) wish.role = plan::ModelRole::text_encoder;
        const auto planner = graph::PartPlanner::make(machine_, std::move(model.part), wish);
        if (!planner) return fail(planner.error());
        NamedModel named{.name = planner->part().name,
                         .planned = plan_beside(machine_.devices, others_, *planner).planned};
        auto& made = named.planned.plan;
        if (settings_.text("placement") == "distorch2" && !text->empty())
            if (const auto placed =
                    place_as_distorch2(named.planned.request, *text, machine_.context, made);
                !placed)
                return fail(placed.error());
        std::ranges::move(model.warnings, std::back_inserter(made.warnings));
        others_.push_back({.name = named.name, .held = residency::held_by(made), .is_idle = false});
        return named;
    }

private:
    const Settings& settings_;
    const graph::PlanningMachine& machine_;
    std::vector<residency::Loaded> others_;
};

std::vector<NamedPlan> plans_of(const std::vector<NamedModel>& all) {
    std::vector<NamedPlan> plans;
    for (const auto& model : all) plans.push_back(model.plan());
    return plans;
}

Json json_of(const NamedModel& model) {
    auto json = plan_json(model.planned.request, model.planned.plan);
    json["name"] = model.name;
    return json;
}

/// One plan has its keys at the top; several stand under "models", after the first.
Json document_of(const std::vector<NamedModel>& all) {
    auto document = json_of(all.front());
    if (all.size() < 2) return document;
    Json list = Json::array();
    for (const auto& model : all) list.push_back(json_of(model));
    document["models"] = std::move(list);
    return document;
}

Result<void> require_chart(const Settings& settings, const Invocation& invocation) {
    const auto file = settings.text("chart");
    if (file.empty()) return {};
    return require_chart_file(
        file, {invocation.operand, settings.text("blocks"), settings.text("simulate")});
}

int plan_models(const std::string& operand, const Settings& settings,
                const graph::PlanningMachine& machine, Console& console) {
    auto models = models_to_plan(operand, settings);
    if (!models) return console.fail(models.error());
    Planning planning(settings, machine);
    std::vector<NamedModel> all;
    for (auto& model : *models) {
        auto planned = planning.plan(std::move(model));
        if (!planned) return console.fail(planned.error());
        all.push_back(*std::move(planned));
    }
    const auto plans = plans_of(all);
    if (const auto chart = settings.text("chart"); !chart.empty())
        if (const auto drawn = write_file(chart, plan_chart(plans), "the chart"); !drawn)
            return console.fail(drawn.error());
    const auto detail = settings.flag("explain") ? Detail::everything : Detail::summary;
    for (const auto& each : plans)
        console.say(fmt::format("{}\n{}\n", escaped(each.name),
                                plan_text(each.request, each.plan, detail)));
    console.print(document_of(all));
    if (std::ranges::all_of(plans, [](const NamedPlan& each) { return each.plan.fits; })) return 0;
    Console::complain(refusal_of(plans, "model", std::string(kExplainHint)));
    return exit_status(Code::does_not_fit);
}

}  // namespace

int plan(const Invocation& invocation, Console& console) {
    const auto settings = command_settings(invocation.command->settings, invocation.given);
    if (!settings) return console.fail(settings.error());
    if (const auto chart = require_chart(*settings, invocation); !chart)
        return console.fail(chart.error());
    const auto machine = machine_of(*settings);
    if (!machine) return console.fail(machine.error());
    if (const auto limited = require_limited_devices(*settings, *machine); !limited)
        return console.fail(limited.error());
    const auto judged = planning_machine_of(*machine);
    if (settings->text("blocks").empty() && is_workflow_file(invocation.operand))
        return plan_workflow(invocation.operand, *settings, judged, console);
    return plan_models(invocation.operand, *settings, judged, console);
}

}  // namespace ballast::cli
