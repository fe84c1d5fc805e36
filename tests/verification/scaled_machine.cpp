#include "tests/verification/scaled_machine.hpp"

#include <algorithm>
#include <stdexcept>

#include "ballast/engine/machine/profile_json.hpp"

namespace ballast::verification {
namespace {

void shrink(std::optional<Bytes>& bytes) {
    if (bytes) bytes = Bytes{bytes->count() / kScale};
}

machine::MachineProfile shrunk(machine::MachineProfile profile) {
    auto& host = profile.host;
    for (auto* bytes : {&host.total, &host.available, &host.free, &host.cached, &host.shmem,
                        &host.swap_total, &host.swap_free, &host.limit, &host.limit_used})
        shrink(*bytes);
    for (auto& device : profile.devices)
        for (auto* bytes : {&device.total, &device.free, &device.gtt, &device.carveout,
                            &device.working_set, &device.granularity})
            shrink(*bytes);
    return profile;
}

}  // namespace

const machine::DeviceAssessment& ScaledMachine::judged(DeviceId device) const {
    return *std::ranges::find(assessment.devices, device, &machine::DeviceAssessment::id);
}

bool ScaledMachine::is_pool(DeviceId device) const {
    const auto memory_class = judged(device).classification.memory_class;
    return memory_class == machine::MemoryClass::unified ||
           memory_class == machine::MemoryClass::shared;
}

ScaledMachine scaled_machine(const MachineRow& row, const std::string& profiles) {
    auto loaded = machine::load_profile(profiles + "/" + std::string(row.profile));
    if (!loaded) throw std::runtime_error(to_string(loaded.error()));
    ScaledMachine machine{.full = std::move(loaded->profile)};
    machine.small = shrunk(machine.full);
    machine.assessment = machine::assess(machine.full, {.vram = row.vram});
    machine.planning = plan::plan_machine(machine.full, machine.assessment);
    for (auto& device : machine.planning.devices) {
        shrink(device.total);
        device.capacity = Bytes{device.capacity.count() / kScale};
    }
    machine.context = plan::allocation_context(machine.small);
    machine.context.compute = row.compute;
    return machine;
}

}  // namespace ballast::verification
