#include "ballast/engine/plan/plan_machine.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace ballast::plan {
namespace {

constexpr std::uint64_t kAssumedLink = 12'000'000'000;
constexpr std::uint64_t kAssumedLatency = 10'000;
constexpr std::uint64_t kAssumedDisk = 1'000'000'000;
constexpr std::uint64_t kAssumedDiskLatency = 100'000;

/// Units of a profile's rates in whole numbers; at least one, so that nothing divides by zero.
std::uint64_t whole(double value, double unit) {
    const auto scaled = std::floor(value * unit + 0.5);
    constexpr double kMost = 1e18;
    return scaled < 1 ? 1 : static_cast<std::uint64_t>(std::min(scaled, kMost));
}

/// The fastest arithmetic that the device has for weights of half precision.
std::optional<std::uint64_t> flops_of(const machine::DeviceProfile& device) {
    std::optional<std::uint64_t> best;
    for (const auto* type : {"bf16", "fp16", "fp32"}) {
        const auto found = device.tflops.find(type);
        if (found == device.tflops.end()) continue;
        best = std::max(best.value_or(0), whole(found->second, 1e12));
    }
    return best;
}

PlanDevice device_of(const machine::DeviceAssessment& judged,
                     const machine::DeviceProfile* profile) {
    PlanDevice device{.id = judged.id,
                      .total = judged.total,
                      .capacity = judged.budget.weights_now.value_or(
                          judged.budget.static_budget.value_or(Bytes{}))};
    if (profile == nullptr) return device;
    device.flops = flops_of(*profile);
    device.computes = judged.state != machine::VramState::disabled || judged.id == kCpu;
    return device;
}

bool is_pool(const machine::DeviceAssessment& judged) {
    return judged.classification.memory_class == machine::MemoryClass::unified ||
           judged.classification.memory_class == machine::MemoryClass::shared;
}

void add_links(PlanMachine& machine, const machine::MachineProfile& profile) {
    std::map<std::pair<DeviceId, DeviceId>, PlanLink> known;
    for (const auto& link : profile.links)
        known.try_emplace({link.from, link.to},
                          PlanLink{.from = link.from,
                                   .to = link.to,
                                   .bytes_per_s = whole(link.gbps, 1e9),
                                   .latency_ns = whole(link.latency_us, 1e3)});
    for (const auto& from : machine.devices)
        for (const auto& to : machine.devices) {
            if (from.id == to.id) continue;
            const auto told = known.find({from.id, to.id});
            // a known way back is a better guess than none
            const auto back = known.find({to.id, from.id});
            if (told != known.end())
                machine.links.push_back(told->second);
            else if (back != known.end())
                machine.links.push_back(
                    {from.id, to.id, back->second.bytes_per_s, back->second.latency_ns, true});
            else
                machine.links.push_back({from.id, to.id, kAssumedLink, kAssumedLatency, true});
        }
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
    result.is_disk_assumed = !profile.storage.gbps.has_value();
    result.disk_bytes_per_s =
        profile.storage.gbps ? whole(*profile.storage.gbps, 1e9) : kAssumedDisk;
    result.disk_latency_ns =
        profile.storage.latency_us ? whole(*profile.storage.latency_us, 1e3) : kAssumedDiskLatency;
    return result;
}

}  // namespace ballast::plan
