#pragma once
// Short ways to describe machines in tests. Sizes are in GiB, as the tables of the field write
// them.

#include <cmath>
#include <string>

#include "ballast/engine/machine/assessment.hpp"

namespace ballast::machine {

inline Bytes gib(double amount) {
    return Bytes{static_cast<std::uint64_t>(std::llround(amount * 1024 * 1024 * 1024))};
}

inline double in_gib(Bytes bytes) {
    return static_cast<double>(bytes.count()) / (1024.0 * 1024 * 1024);
}

inline HostProfile host_of(double total, double available) {
    return {.total = gib(total), .available = gib(available)};
}

/// A CUDA device whose driver answers.
inline DeviceProfile nvidia(std::string name, double total, bool integrated,
                            bool host_page_tables = false) {
    return {.id = {DeviceKind::cuda, 0},
            .name = std::move(name),
            .vendor = "nvidia",
            .total = gib(total),
            .free = gib(total * 0.97),
            .integrated = integrated,
            .attributes = {.host_page_tables = host_page_tables},
            .capability = "9.0"};
}

inline DeviceProfile radeon(std::string name, double total, bool integrated) {
    auto device = nvidia(std::move(name), total, integrated);
    device.vendor = "amd";
    device.capability = integrated ? "gfx1151" : "gfx1100";
    return device;
}

inline DeviceProfile silent(DeviceProfile device) {
    device.integrated.reset();
    device.attributes = {};
    device.query_fails = {Query::attributes};
    return device;
}

inline DeviceProfile of_kind(DeviceKind kind, std::string vendor, double total,
                             std::optional<bool> integrated) {
    return {.id = {kind, 0},
            .name = vendor + " device",
            .vendor = vendor,
            .total = gib(total),
            .free = gib(total * 0.97),
            .integrated = integrated};
}

inline MachineProfile machine_with(HostProfile host, DeviceProfile device,
                                   System system = System::gnu_linux) {
    return {.system = system, .host = host, .devices = {std::move(device)}};
}

/// The verdict on the machine's only accelerator.
inline DeviceAssessment judged(const MachineProfile& profile, const MemoryOptions& options = {}) {
    return assess(profile, options).devices.at(1);
}

}  // namespace ballast::machine
