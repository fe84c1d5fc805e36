#pragma once
// Simulated cards whose allocators keep what is freed.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ballast/engine/device/sim/sim_machine.hpp"
#include "ballast/engine/residency/caches.hpp"

namespace ballast::residency::testing {

constexpr DeviceId cuda(int index) { return {DeviceKind::cuda, index}; }

/// Accelerators of 8 GiB; nothing is free on one that is `full`.
class Cards {
public:
    static constexpr Bytes kTotal{std::uint64_t{8} << 30U};
    static constexpr Bytes kReserve{std::uint64_t{2} << 30U};

    explicit Cards(const std::vector<DeviceId>& ids, std::optional<DeviceId> full = std::nullopt)
        : machine(profile_of(ids, full), std::make_shared<device::sim::VirtualTime>()) {
        for (const auto id : ids) machine.keep_cache(id);
    }

    device::Device& operator[](DeviceId id) { return *machine.devices().find(id); }
    [[nodiscard]] Bytes cached(DeviceId id) { return (*this)[id].memory().cached; }

    /// Makes its allocator keep that much, in pieces that any host has the address space for.
    void fill_cache(DeviceId id, Bytes bytes) {
        constexpr Bytes kPiece{std::uint64_t{256} << 20U};
        std::vector<device::Memory> pieces;
        while (!bytes.is_zero()) {
            const auto piece = std::min(bytes, kPiece);
            pieces.push_back((*this)[id].allocate(piece).value());
            bytes = bytes.minus_or_zero(piece);
        }
    }

    /// Copies a byte, after which the device is lost.
    void lose(DeviceId id) {
        const std::byte byte{};
        const auto memory = (*this)[id].allocate(Bytes{1}).value();
        machine.inject(id, {.lost_at = 1});
        const auto stream = (*this)[id].open_stream().value();
        static_cast<void>(stream->copy({id, {memory.data(), 1}}, {kCpu, {&byte, 1}}));
    }

    std::vector<CacheReport> empty(machine::EmptyingCall call,
                                   const std::vector<DeviceId>& only = {}) {
        return empty_caches(machine.devices(), only, call, policy, available, log);
    }

    /// The devices that were called since this was last asked, in their order.
    std::vector<DeviceId> called() {
        std::vector<DeviceId> ids;
        for (const auto& device : machine.devices().all()) {
            const auto now = machine.calls(device->id());
            if (std::exchange(calls_[device->id()], now) != now) ids.push_back(device->id());
        }
        return ids;
    }

    device::sim::SimMachine machine;
    machine::MemoryClass memory_class = machine::MemoryClass::discrete;
    PolicyOf policy = [this](DeviceId id) {
        return id == kCpu ? DevicePolicy{}
                          : DevicePolicy{.memory_class = memory_class, .reserve = kReserve};
    };
    AvailableNow available{};
    std::shared_ptr<CollectingSink> lines = std::make_shared<CollectingSink>();
    Log log{{lines}};

private:
    static machine::MachineProfile profile_of(const std::vector<DeviceId>& ids,
                                              std::optional<DeviceId> full) {
        machine::MachineProfile profile;
        for (const auto id : ids)
            profile.devices.push_back(
                {.id = id, .total = kTotal, .free = id == full ? Bytes{} : kTotal});
        return profile;
    }

    std::map<DeviceId, std::uint64_t> calls_;
};

inline std::map<DeviceId, CacheReport> by_device(const std::vector<CacheReport>& reports) {
    std::map<DeviceId, CacheReport> map;
    for (const auto& report : reports) map.emplace(report.device, report);
    return map;
}

}  // namespace ballast::residency::testing
