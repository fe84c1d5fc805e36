#include <fmt/format.h>

#include <algorithm>

#include "ballast/engine/machine/budget.hpp"

namespace ballast::machine {
namespace {

std::optional<Bytes> smaller(std::optional<Bytes> a, std::optional<Bytes> b) {
    if (!a) return b;
    return b ? std::min(*a, *b) : *a;
}

std::optional<Bytes> driver_free(const DeviceProfile& device) {
    return device.fails(Query::free) ? std::nullopt : device.free;
}

/// The driver's total, or what it must be by the driver's parts.
std::optional<Bytes> driver_total(const DeviceProfile& device) {
    if (!device.fails(Query::total) && device.total) return device.total;
    if (is_hip(device) && device.gtt) return device.carveout.value_or(Bytes{}) + *device.gtt;
    return std::nullopt;
}

/// What the system could give without swapping. A container's limit bounds what this process takes
/// from the host, but device allocations of integrated GPUs are not charged to it.
std::optional<Bytes> pool_available(const HostProfile& host) {
    auto whole = host;
    whole.limit.reset();
    return host_available(whole);
}

FreeMemory of_pool(const DeviceQuestion& question) {
    const auto& device = question.device;
    const auto available = pool_available(question.host);
    const auto driver = driver_free(device);
    const bool is_measured_by_both = is_hip(device) && driver && available;
    if (is_measured_by_both)
        return {smaller(available, driver), "smaller of driver and MemAvailable", false, {}};
    if (available) {
        const bool is_computed = !question.host.available;
        return {available,
                is_computed ? "MemFree and reclaimable cache" : "MemAvailable",
                is_computed,
                {}};
    }
    if (driver)
        return {driver,
                "driver",
                true,
                {fmt::format("{}: the system does not say what is available; the driver's figure "
                             "counts cache as used and is a lower bound",
                             to_string(device.id))}};
    return {std::nullopt, "unknown", false, {}};
}

/// A carve-out is memory of the device alone; only what lies beyond it competes with the host.
FreeMemory of_partition(const DeviceQuestion& question) {
    const auto driver = driver_free(question.device);
    const auto available = pool_available(question.host);
    if (!driver) return {available, available ? "MemAvailable" : "unknown", false, {}};
    if (!available) return {driver, "driver", false, {}};
    const auto most = question.device.carveout.value_or(Bytes{}) + *available;
    return {std::min(*driver, most),
            *driver <= most ? "driver" : "smaller of driver and MemAvailable",
            false,
            {}};
}

FreeMemory of_host(const HostProfile& host) {
    const auto available = host_available(host);
    if (!available) return {std::nullopt, "unknown", false, {}};
    const auto pool = pool_available(host);
    if (!pool || *available < *pool) return {available, "container limit", false, {}};
    return {available,
            host.available ? "MemAvailable" : "MemFree and reclaimable cache",
            !host.available,
            {}};
}

FreeMemory measured(const DeviceQuestion& question) {
    switch (question.memory_class) {
        case MemoryClass::unified: return of_pool(question);
        case MemoryClass::partitioned: return of_partition(question);
        case MemoryClass::shared: return of_host(question.host);
        case MemoryClass::none:
            if (question.device.id.kind == DeviceKind::cpu) return of_host(question.host);
            break;
        case MemoryClass::coherent:
        case MemoryClass::discrete: break;
    }
    const auto driver = driver_free(question.device);
    return {driver, driver ? "driver" : "unknown", false, {}};
}

}  // namespace

std::optional<Bytes> total_memory(const DeviceQuestion& question) {
    const auto device = driver_total(question.device);
    switch (question.memory_class) {
        case MemoryClass::unified: return smaller(device, question.host.total);
        case MemoryClass::shared: return question.host.total ? question.host.total : device;
        case MemoryClass::none:
            return question.device.id.kind == DeviceKind::cpu ? host_total(question.host) : device;
        case MemoryClass::partitioned:
        case MemoryClass::coherent:
        case MemoryClass::discrete: return device;
    }
    return device;
}

FreeMemory free_memory(const DeviceQuestion& question) {
    auto free = measured(question);
    if (!free.bytes) return free;
    *free.bytes += question.holding.releasable;
    const auto total = total_memory(question);
    if (total && *free.bytes > *total) {
        const bool is_drivers = free.source == "driver";
        if (is_drivers && question.memory_class != MemoryClass::unified)
            free.warnings.push_back(fmt::format("{}: {} free of {} cannot be; the total is taken",
                                                to_string(question.device.id),
                                                to_string(*free.bytes), to_string(*total)));
        free.bytes = total;
    }
    return free;
}

}  // namespace ballast::machine
