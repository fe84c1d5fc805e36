#include "ballast/graph/planning_machine.hpp"

#include <algorithm>
#include <utility>

namespace ballast::graph {

PlanningMachine planning_machine(machine::MachineProfile profile, machine::MemoryOptions options,
                                 std::optional<std::span<const DeviceId>> usable,
                                 MachineKind kind) {
    PlanningMachine result{
        .kind = kind, .profile = std::move(profile), .options = std::move(options)};
    if (usable)
        std::erase_if(result.profile.devices, [&](const machine::DeviceProfile& device) {
            return std::ranges::find(*usable, device.id) == usable->end();
        });
    result.assessment = machine::assess(result.profile, result.options);
    // a limit is what the user lets us have: the reserve that others get lies outside of it
    auto unlimited = result.options;
    unlimited.limits.clear();
    result.devices = plan::plan_machine(result.profile, machine::assess(result.profile, unlimited));
    result.devices.is_read_in_place = kind == MachineKind::simulated;
    for (auto& device : result.devices.devices)
        if (const auto limit = result.options.limits.find(device.id);
            limit != result.options.limits.end())
            device.capacity = std::min(device.capacity, limit->second);
    result.context = plan::allocation_context(result.profile);
    return result;
}

std::vector<DeviceId> offered_devices(const PlanningMachine& machine) {
    std::vector<DeviceId> devices;
    for (const auto& device : machine.devices.devices) devices.push_back(device.id);
    return devices;
}

}  // namespace ballast::graph
