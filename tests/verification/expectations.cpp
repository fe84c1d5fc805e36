#include "tests/verification/expectations.hpp"

namespace ballast::verification {

using machine::CacheAction;
using machine::EmptyingCall;
using machine::MemoryClass;

std::array<bool, kModels> expected_to_go(const FreeRow& kind, const FlagsRow& flags) {
    switch (kind.goes) {
        case Goes::nothing: break;
        case Goes::flagged: return flags.is_flagged;
        case Goes::unet: return {true, false, false};
        case Goes::all: return {true, true, true};
    }
    return {};
}

std::set<DeviceId> expected_homes(const PlacementRow& placement, const MachineRow& machine) {
    std::set<DeviceId> homes{machine.compute};
    const auto names = [&](std::string_view word) {
        return placement.text.find(word) != std::string_view::npos;
    };
    if (names("OTHER")) homes.insert(machine.others.front());
    if (names("cpu")) homes.insert(kCpu);
    if (names("disk")) homes.insert(kDisk);
    return homes;
}

std::map<DeviceId, Bytes> expected_held(const plan::BlockTable& table, const plan::Plan& plan) {
    std::map<DeviceId, Bytes> held;
    for (std::size_t b = 0; b < plan.homes.size(); ++b)
        if (plan.homes[b] != kDisk) held[plan.homes[b]] += table.blocks()[b].bytes;
    if (!plan.ring.is_zero()) held[plan.compute] += plan.ring;
    return held;
}

CacheAction expected_action(MemoryClass memory_class, EmptyingCall call) {
    if (memory_class == MemoryClass::none) return CacheAction::nothing;
    if (memory_class == MemoryClass::unified && call == EmptyingCall::soft)
        return CacheAction::synchronise;
    return CacheAction::release;
}

std::map<DeviceId, Bytes> sum(const std::map<DeviceId, Bytes>& a,
                              const std::map<DeviceId, Bytes>& b) {
    auto sums = a;
    for (const auto& [device, bytes] : b) sums[device] += bytes;
    std::erase_if(sums, [](const auto& entry) { return entry.second.is_zero(); });
    return sums;
}

std::map<DeviceId, Bytes> difference(const std::map<DeviceId, Bytes>& a,
                                     const std::map<DeviceId, Bytes>& b) {
    auto left = a;
    for (const auto& [device, bytes] : b) left[device] = left[device].minus_or_zero(bytes);
    std::erase_if(left, [](const auto& entry) { return entry.second.is_zero(); });
    return left;
}

Bytes bytes_on(const std::map<DeviceId, Bytes>& sums, DeviceId device) {
    const auto found = sums.find(device);
    return found == sums.end() ? Bytes{} : found->second;
}

}  // namespace ballast::verification
