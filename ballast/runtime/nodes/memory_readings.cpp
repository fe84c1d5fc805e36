#include "ballast/runtime/nodes/memory_readings.hpp"

#include <sstream>

#include "ballast/engine/core/text_file.hpp"
#include "ballast/engine/device/host/mapped_memory.hpp"
#include "ballast/engine/machine/discovery/meminfo.hpp"

namespace ballast::runtime::nodes {

using namespace literals;

machine::HostProfile HostMemory::now() const {
    if (simulated_ == nullptr) {
        const auto text = read_text_file("/proc/meminfo", 1_MiB);
        return text ? machine::parse_meminfo(*text) : machine::HostProfile{};
    }
    auto host = *simulated_;
    const auto snapshot = ledger_->snapshot();
    for (const auto device : pool_) {
        const auto ours = snapshot.find(device);
        if (host.available && ours != snapshot.end())
            host.available = host.available->minus_or_zero(ours->second.now);
    }
    return host;
}

Bytes HostMemory::used() const {
    const auto host = now();
    if (!host.total || !host.available) return {};
    return host.total->minus_or_zero(*host.available);
}

std::optional<Bytes> resident_memory() {
    const auto text = read_text_file("/proc/self/statm", 1_KiB);
    if (!text) return std::nullopt;
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    if (!(std::istringstream(*text) >> size >> resident)) return std::nullopt;
    return Bytes{resident}.times(device::page_size());
}

std::vector<residency::DeviceReading> memory_readings(const device::DeviceSet& devices,
                                                      const HostMemory& host) {
    std::vector<residency::DeviceReading> readings;
    for (const auto& device : devices.all()) {
        if (device->id() == kCpu) {
            readings.push_back({kCpu, host.total().value_or(Bytes{}), host.used()});
            continue;
        }
        residency::DeviceReading reading{.device = device->id()};
        if (device->is_awake()) {
            const auto state = device->memory();
            if (state.total && state.free) {
                reading.total = *state.total;
                reading.used = state.total->minus_or_zero(*state.free).minus_or_zero(state.cached);
            }
        }
        readings.push_back(reading);
    }
    return readings;
}

}  // namespace ballast::runtime::nodes
