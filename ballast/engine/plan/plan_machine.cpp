#include "ballast/engine/plan/plan_machine.hpp"

#include <algorithm>

#include "ballast/engine/machine/link_rates.hpp"

namespace ballast::plan {
namespace {

PlanDevice device_of(const machine::DeviceAssessment& judged,
                     const machine::DeviceProfile* profile) {
    PlanDevice device{.id = judged.id,
                      .total = judged.total,
                      .capacity = judged.budget.weights_now.value_or(
                          judged.budget.static_budget.value_or(Bytes{}))};
    if (profile == nullptr) return device;
    device.flops = machine::flops_per_second(*profile);
    device.computes = judged.state != machine::VramState::disabled || judged.id == kCpu;
    return device;
}

bool is_pool(const machine::DeviceAssessment& judged) {
    return judged.classification.memory_class == machine::MemoryClass::unified ||
           judged.classification.memory_class == machine::MemoryClass::shared;
}

void add_links(PlanMachine& machine, const machine::MachineProfile& profile) {
    std::vector<DeviceId> ids;
    for (const auto& device : machine.devices) ids.push_back(device.id);
    for (const auto& rate : machine::link_rates(profile, ids))
        machine.links.push_back(
            {rate.from, rate.to, rate.bytes_per_s, rate.latency_ns, rate.is_assumed});
}

}  // namespace

const PlanDevice* PlanMachine::find(DeviceId id) const {
    const auto found = std::ranges::find(devices, id, &PlanDevice::id);
    return found == devices.end() ? nullptr : &*found;
}

const PlanLink* PlanMachine::link(DeviceId from, DeviceId to) const {
    for (const auto& link : links)
        if (link.from == from && link.to == to) return &link;
    return nullptr;
}

bool PlanMachine::is_one_pool(DeviceId a, DeviceId b) const {
    if (a == b) return true;
    const auto* first = find(a);
    const auto* second = find(b);
    return (first != nullptr && first->pool == b) || (second != nullptr && second->pool == a);
}

PlanMachine plan_machine(const machine::MachineProfile& profile,
                         const machine::Assessment& assessment) {
    PlanMachine result;
    std::optional<DeviceId> pool;
    for (const auto& judged : assessment.devices) {
        const bool is_unused = judged.state == machine::VramState::disabled && judged.id != kCpu;
        if (!judged.cannot_store.empty() || is_unused) continue;
        const auto* described = judged.id == kCpu && profile.processor
                                    ? &*profile.processor
                                    : machine::find_device(profile, judged.id);
        result.devices.push_back(device_of(judged, described));
        if (is_pool(judged) && !pool) pool = judged.id;
    }
    if (!result.devices.empty() && result.devices.front().id == kCpu)
        result.devices.front().pool = pool;
    add_links(result, profile);
    const auto disk = machine::disk_rate(profile);
    result.is_disk_assumed = disk.is_assumed;
    result.disk_bytes_per_s = disk.bytes_per_s;
    result.disk_latency_ns = disk.latency_ns;
    return result;
}

}  // namespace ballast::plan
