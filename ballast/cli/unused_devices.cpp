#include "ballast/cli/unused_devices.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ballast::cli {

std::vector<std::string> devices_without_storage(const machine::Assessment& assessment) {
    std::vector<std::string> sentences;
    for (const auto& device : assessment.devices)
        if (!device.cannot_store.empty() && device.state != machine::VramState::disabled)
            sentences.push_back(
                fmt::format("{} is not used: {}", to_string(device.id), device.cannot_store));
    return sentences;
}

std::vector<std::string> devices_without_runtime(const plan::PlanMachine& machine,
                                                 std::span<const DeviceId> devices) {
    const bool is_processor_alone =
        std::ranges::all_of(devices, [](DeviceId id) { return id == kCpu; });
    std::vector<std::string> sentences;
    for (const auto& device : machine.devices)
        if (device.id != kCpu && std::ranges::find(devices, device.id) == devices.end())
            sentences.push_back(fmt::format(
                "{} is not used: libtorch here {}", to_string(device.id),
                is_processor_alone ? "computes on the processor only" : "does not drive it"));
    return sentences;
}

}  // namespace ballast::cli
