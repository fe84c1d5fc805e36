#include "ballast/cli/placement_options.hpp"

#include <fmt/format.h>

namespace ballast::cli {

Error plan_usage(std::string key, std::string why, std::string hint) {
    return {.code = Code::usage,
            .what = "cannot plan",
            .why = std::move(why),
            .place = {.key = std::move(key)},
            .hint = std::move(hint)};
}

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

Result<std::optional<Bytes>> activations_asked_for(const Settings& settings) {
    const auto text = settings.text("activation");
    if (text.empty()) return std::nullopt;
    auto bytes = parse_bytes(text);
    if (!bytes)
        return fail(plan_usage("--activation", bytes.error().why, "write a size, for example 2gb"));
    return *bytes;
}

}  // namespace ballast::cli
