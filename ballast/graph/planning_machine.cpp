#include "ballast/graph/planning_machine.hpp"

#include <algorithm>
#include <utility>

namespace ballast::graph {

PlanningMachine planning_machine(machine::MachineProfile profile, machine::MemoryOptions options,
                                 std::optional<std::span<const DeviceId>> usable) {
    PlanningMachine result{.profile = std::move(profile), .options = std::move(options)};
    if (usable)
        std::erase_if(result.profile.devices, [&](const machine::DeviceProfile& device) {
            return std::ranges::find(*usable, device.id) == usable->end();
        });
    result.assessment = machine::assess(result.profile, result.options);
    result.devices = plan::plan_machine(result.profile, result.assessment);
    result.context = plan::allocation_context(result.profile);
    return result;
}

std::vector<DeviceId> offered_devices(const PlanningMachine& machine) {
    std::vector<DeviceId> devices;
    for (const auto& device : machine.devices.devices) devices.push_back(device.id);
    return devices;
}

}  // namespace ballast::graph
