#pragma once
// How fast bytes reach one device from another, in whole numbers, for every pair of devices: what
// the profile says, and assumptions where it says nothing.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ballast/engine/machine/profile.hpp"

namespace ballast::machine {

/// A way for bytes, in one direction.
struct LinkRate {
    DeviceId from{};
    DeviceId to{};
    std::uint64_t bytes_per_s = 1;
    std::uint64_t latency_ns = 0;
    bool is_peer = false;                    ///< direct between accelerators, by the profile
    bool is_assumed = false;                 ///< nobody measured it
    std::vector<std::string> shared_with{};  ///< names of links that compete with this one

    bool operator==(const LinkRate&) const = default;
};

/// The disk as a link to the host.
struct DiskRate {
    std::uint64_t bytes_per_s = 1;
    std::uint64_t latency_ns = 0;
    bool is_assumed = false;

    bool operator==(const DiskRate&) const = default;
};

/// Units of a profile's rates in whole numbers: at least one, so that nothing divides by zero, and
/// at most 10^18.
std::uint64_t whole_rate(double value, double unit);

/// Every ordered pair of different `devices`. Of a pair that the profile does not list, the way
/// back is taken, else 12 GB/s (PCIe 3.0 x16) and 10 us; neither makes two devices peers.
std::vector<LinkRate> link_rates(const MachineProfile& profile, std::span<const DeviceId> devices);

/// 1 GB/s and 100 us where the profile says nothing.
DiskRate disk_rate(const MachineProfile& profile);

/// The fastest arithmetic that a device has for weights of half precision, in floating-point
/// operations per second; empty: unknown.
std::optional<std::uint64_t> flops_per_second(const DeviceProfile& device);

}  // namespace ballast::machine
