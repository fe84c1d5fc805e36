#include "ballast/cli/machine.hpp"

#include <algorithm>
#include <iterator>

#include "ballast/engine/machine/discovery/discover.hpp"
#include "ballast/engine/machine/profile_json.hpp"
#include "ballast/graph/runtime.hpp"

namespace ballast::cli {
namespace {

using machine::DeviceAssessment;

Json bytes_or_null(std::optional<Bytes> bytes) {
    return bytes ? Json(bytes->count()) : Json(nullptr);
}

Json placement_json(const machine::Placement& placement) {
    return {{"unet_offload", to_string(placement.unet_offload)},
            {"unet_initial", to_string(placement.unet_initial)},
            {"text_encoder", to_string(placement.text_encoder)},
            {"text_encoder_offload", to_string(placement.text_encoder_offload)},
            {"vae", to_string(placement.vae)},
            {"vae_offload", to_string(placement.vae_offload)},
            {"intermediate", to_string(placement.intermediate)}};
}

Json device_json(const DeviceAssessment& device) {
    Json json{{"id", to_string(device.id)},
              {"name", device.name},
              {"class", to_string(device.classification.memory_class)},
              {"rule", device.classification.rule},
              {"reason", device.classification.reason},
              {"vram_state", to_string(device.state)},
              {"total", bytes_or_null(device.total)},
              {"free", bytes_or_null(device.free.bytes)},
              {"free_source", device.free.source},
              {"reserve", device.budget.reserve.count()},
              {"budget", bytes_or_null(device.budget.static_budget)},
              {"weights_now", bytes_or_null(device.budget.weights_now)},
              {"limited_by", device.budget.limited_by},
              {"pinned_limit", device.pinned_limit.count()},
              {"streams", device.streams},
              {"choices", placement_json(device.placement)},
              {"soft_empty", to_string(device.soft_empty)},
              {"fp16", device.is_fp16_usable},
              {"bf16", device.is_bf16_usable},
              {"stores_blocks", device.cannot_store.empty()}};
    if (!device.cannot_store.empty()) json["refusal"] = device.cannot_store;
    return json;
}

Json links_json(const std::vector<machine::Link>& links) {
    Json list = Json::array();
    for (const auto& link : links)
        list.push_back({{"from", to_string(link.from)},
                        {"to", to_string(link.to)},
                        {"gbps", link.gbps},
                        {"latency_us", link.latency_us},
                        {"peer", link.peer}});
    return list;
}

}  // namespace

Result<Machine> machine_of(const Settings& settings) {
    auto options = machine::memory_options(settings);
    if (!options) return fail(options.error());
    Machine result{.profile = {}, .options = *std::move(options), .assessment = {}};
    if (settings.is_given("simulate")) {
        auto loaded = machine::load_profile(settings.text("simulate"));
        if (!loaded) return fail(loaded.error());
        result.profile = std::move(loaded->profile);
        result.warnings = std::move(loaded->warnings);
        result.is_simulated = true;
    } else {
        auto found = machine::discover({});
        result.profile = std::move(found.profile);
        result.warnings = std::move(found.warnings);
    }
    result.assessment = machine::assess(result.profile, result.options);
    std::ranges::copy(result.assessment.warnings, std::back_inserter(result.warnings));
    return result;
}

graph::PlanningMachine planning_machine_of(const Machine& machine,
                                           std::optional<std::span<const DeviceId>> usable) {
    auto judged = graph::planning_machine(
        machine.profile, machine.options, usable,
        machine.is_simulated ? graph::MachineKind::simulated : graph::MachineKind::real);
    judged.threads = graph::arithmetic_threads({});
    return judged;
}

Json devices_document(const Machine& machine) {
    const auto& assessment = machine.assessment;
    Json devices = Json::array();
    for (const auto& device : assessment.devices) devices.push_back(device_json(device));
    return {{"name", machine.profile.name},
            {"host",
             {{"total", bytes_or_null(assessment.host_total)},
              {"available", bytes_or_null(assessment.host_available)},
              {"limit", bytes_or_null(assessment.host_limit)}}},
            {"devices", std::move(devices)},
            {"links", links_json(machine.profile.links)},
            {"warnings", machine.warnings},
            {"simulated", machine.is_simulated}};
}

}  // namespace ballast::cli
