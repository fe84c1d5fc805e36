#include "ballast/cli/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ballast/cli/command_settings.hpp"
#include "ballast/cli/machine.hpp"
#include "ballast/cli/models_to_plan.hpp"
#include "ballast/cli/plan_chart.hpp"
#include "ballast/cli/plan_text.hpp"
#include "ballast/cli/writable.hpp"
#include "ballast/engine/core/write_file.hpp"
#include "ballast/engine/plan/allocation.hpp"
#include "ballast/engine/plan/distorch2.hpp"

namespace ballast::cli {
namespace {

/// The allocation text that the options stand for, in the full form.
Result<std::string> allocation_text(const Settings& settings) {
    auto text = settings.text("allocation");
    const auto compute = settings.text("compute");
    const auto freed = settings.text("virtual-vram");
    if (text.find('#') != std::string::npos) {
        if (!compute.empty() || !freed.empty())
            return fail(plan_usage("--allocation", "it names the compute device itself",
                                   "leave --compute and --virtual-vram out"));
        return text;
    }
    if (!freed.empty())
        return text + fmt::format("#{};{};{}", compute, freed, settings.text("donors"));
    if (!text.empty() && !compute.empty()) return text + "#" + compute;
    return text;
}

Result<std::optional<DeviceId>> compute_device(const Settings& settings,
                                               const plan::PlanMachine& machine) {
    const auto text = settings.text("compute");
    if (text.empty()) return std::nullopt;
    const auto device = parse_device(text);
    if (device && machine.find(*device) != nullptr) return device;
    std::string known;
    for (const auto& each : machine.devices)
        known += (known.empty() ? "" : ", ") + to_string(each.id);
    return fail(
        plan_usage("--compute", fmt::format("there is no device '{}'", text), "present: " + known));
}

/// What the user says that a step takes beside the weights; empty: nothing.
Result<std::optional<Bytes>> activations_asked_for(const Settings& settings) {
    const auto text = settings.text("activation");
    if (text.empty()) return std::nullopt;
    auto bytes = parse_bytes(text);
    if (!bytes)
        return fail(plan_usage("--activation", bytes.error().why, "write a size, for example 2gb"));
    return *bytes;
}

/// Devices that are listed, but cannot store blocks, are refused by name.
Result<void> require_storage(const plan::Policy& policy, const Machine& machine) {
    std::vector<DeviceId> named{policy.compute};
    for (const auto& entry : policy.entries) named.push_back(entry.device);
    if (policy.rest) named.push_back(*policy.rest);
    std::ranges::copy(policy.donors, std::back_inserter(named));
    for (const auto id : named) {
        const auto judged =
            std::ranges::find(machine.assessment.devices, id, &machine::DeviceAssessment::id);
        if (judged == machine.assessment.devices.end() || judged->cannot_store.empty()) continue;
        return fail(Error{
            .code = Code::not_available,
            .what = "cannot plan",
            .why = fmt::format("{} cannot store blocks: {}", to_string(id), judged->cannot_store),
            .place = {.key = to_string(id)},
            .hint = "name another device"});
    }
    return {};
}

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

struct Planned {
    std::string name;
    plan::PlanRequest request;
    plan::Plan plan;
};

class Planning {
public:
    Planning(const Settings& settings, const Machine& machine)
        : settings_(settings),
          judged_(machine),
          context_(plan::allocation_context(machine.profile)),
          machine_(plan::plan_machine(machine.profile, machine.assessment)) {}

    Result<Planned> plan(ModelToPlan model) {
        auto text = allocation_text(settings_);
        if (!text) return fail(text.error());
        auto policy = plan::parse_allocation(model.is_distributed ? *text : "", context_);
        if (!policy) return fail(policy.error());
        if (const auto usable = require_storage(*policy, judged_); !usable)
            return fail(usable.error());
        const auto compute = compute_device(settings_, machine_);
        if (!compute) return fail(compute.error());
        const auto activations = activations_asked_for(settings_);
        if (!activations) return fail(activations.error());
        const bool is_text_encoder =
            model.kind == ModelToPlan::Kind::text_encoder || settings_.flag("text-encoder");
        Planned planned{.name = std::move(model.name),
                        .request = {.blocks = std::move(model.blocks),
                                    .role = is_text_encoder ? plan::ModelRole::text_encoder
                                                            : plan::ModelRole::network,
                                    .policy = *std::move(policy),
                                    .compute = *compute,
                                    .machine = machine_,
                                    .is_file_backed = model.is_file_backed},
                        .plan = {}};
        make(planned, model, *activations);
        if (settings_.text("placement") == "distorch2" && model.is_distributed && !text->empty()) {
            const auto placed = place_as_distorch2(planned.request, *text, context_, planned.plan);
            if (!placed) return fail(placed.error());
        }
        std::ranges::move(model.warnings, std::back_inserter(planned.plan.warnings));
        take(planned.plan);
        return planned;
    }

private:
    /// Activations depend on the format that the compute device computes in, and which device that
    /// is can depend on them: where the first guess was wrong, the device found stays.
    void make(Planned& planned, const ModelToPlan& model, std::optional<Bytes> activations) const {
        auto& request = planned.request;
        const bool is_decided = request.policy.mode != plan::Mode::automatic;
        const auto guess =
            is_decided
                ? request.policy.compute
                : request.compute.value_or(machine::default_compute_device(judged_.assessment));
        const auto assumed = activation_element(model, guess, judged_);
        set_costs(request, model, assumed, activations);
        planned.plan = plan::make_plan(request);
        const auto found = activation_element(model, planned.plan.compute, judged_);
        if (found == assumed) return;
        set_costs(request, model, found, activations);
        request.compute = planned.plan.compute;
        planned.plan = plan::make_plan(request);
    }

    /// Beside the weights, the block that needs the most decides; unless the user does.
    static void set_costs(plan::PlanRequest& request, const ModelToPlan& model,
                          std::int64_t element_bytes, std::optional<Bytes> activations) {
        if (const auto costs = model.costs.find(element_bytes); costs != model.costs.end())
            models::set_costs(request.blocks, costs->second);
        Bytes most;
        for (const auto& block : request.blocks)
            most = std::max(most, block.activation_bytes.value_or(Bytes{}));
        request.activations = activations.value_or(most);
    }

    /// The next model finds the room that this one left.
    void take(const plan::Plan& plan) {
        for (auto& device : machine_.devices)
            if (const auto held = plan.per_device.find(device.id); held != plan.per_device.end())
                device.capacity = device.capacity.minus_or_zero(held->second);
    }

    const Settings& settings_;
    const Machine& judged_;
    plan::AllocationContext context_;
    plan::PlanMachine machine_;
};

Error refusal(const std::vector<Planned>& all) {
    Error error{.code = Code::does_not_fit,
                .what = "the model does not fit",
                .hint = "--explain says what would make it fit"};
    for (const auto& planned : all)
        for (const auto& [device, lack] : planned.plan.shortfall) {
            error.shortfall[device] = lack;
            error.why += fmt::format(
                "{}{}: needed {}, available {}, missing {}", error.why.empty() ? "" : "; ",
                to_string(device), to_string(Bytes{lack.needed}), to_string(Bytes{lack.available}),
                to_string(Bytes{lack.missing()}));
        }
    return error;
}

/// One plan has its keys at the top; several stand under "models", after the first.
Json document_of(const std::vector<Planned>& all) {
    auto document = plan_json(all.front().request, all.front().plan);
    document["name"] = all.front().name;
    if (all.size() < 2) return document;
    Json list = Json::array();
    for (const auto& planned : all) {
        list.push_back(plan_json(planned.request, planned.plan));
        list.back()["name"] = planned.name;
    }
    document["models"] = std::move(list);
    return document;
}

Result<void> require_chart(const Settings& settings, const Invocation& invocation) {
    const auto file = settings.text("chart");
    if (file.empty()) return {};
    return require_chart_file(
        file, {invocation.operand, settings.text("blocks"), settings.text("simulate")});
}

Result<void> write_chart(const std::string& file, const std::vector<Planned>& all) {
    if (file.empty()) return {};
    std::vector<ChartModel> models;
    for (const auto& planned : all) models.push_back({planned.name, planned.request, planned.plan});
    return write_file(file, plan_chart(models), "the chart");
}

}  // namespace

int plan(const Invocation& invocation, Console& console) {
    const auto settings = command_settings(invocation.command->settings, invocation.given);
    if (!settings) return console.fail(settings.error());
    if (const auto chart = require_chart(*settings, invocation); !chart)
        return console.fail(chart.error());
    const auto machine = machine_of(*settings);
    if (!machine) return console.fail(machine.error());
    auto models = models_to_plan(invocation, *settings);
    if (!models) return console.fail(models.error());
    Planning planning(*settings, *machine);
    std::vector<Planned> all;
    for (auto& model : *models) {
        auto planned = planning.plan(std::move(model));
        if (!planned) return console.fail(planned.error());
        all.push_back(*std::move(planned));
    }
    if (const auto drawn = write_chart(settings->text("chart"), all); !drawn)
        return console.fail(drawn.error());
    const auto detail = settings->flag("explain") ? Detail::everything : Detail::summary;
    for (const auto& planned : all)
        console.say(fmt::format("{}\n{}\n", escaped(planned.name),
                                plan_text(planned.request, planned.plan, detail)));
    console.print(document_of(all));
    const bool fits = std::ranges::all_of(all, [](const Planned& each) { return each.plan.fits; });
    if (fits) return 0;
    Console::complain(refusal(all));
    return exit_status(Code::does_not_fit);
}

}  // namespace ballast::cli
