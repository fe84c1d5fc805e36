#pragma once
// A machine as planning sees it: how much weights may take on each device, how fast each computes,
// and how fast bytes reach one from another. Whole numbers only, so that a plan made on one host is
// the same on every other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/device_id.hpp"
#include "ballast/engine/machine/assessment.hpp"

namespace ballast::plan {

struct PlanDevice {
    DeviceId id{};
    std::optional<Bytes> total{};
    Bytes capacity{};  ///< for weights, activations and ring together, at this moment
    std::optional<std::uint64_t> flops{};  ///< floating-point operations per second
    bool computes = true;
    /// The device whose pool this one's memory is: what lies here takes room there.
    std::optional<DeviceId> pool{};

    bool operator==(const PlanDevice&) const = default;
};

/// A way for weights, in one direction.
struct PlanLink {
    DeviceId from{};
    DeviceId to{};
    std::uint64_t bytes_per_s = 1;
    std::uint64_t latency_ns = 0;
    bool is_assumed = false;  ///< nobody measured it

    bool operator==(const PlanLink&) const = default;
};

struct PlanMachine {
    std::vector<PlanDevice> devices{};  ///< the processor first
    std::vector<PlanLink> links{};
    std::uint64_t disk_bytes_per_s = 1;
    std::uint64_t disk_latency_ns = 0;
    bool is_disk_assumed = false;
    bool is_read_in_place = true;  ///< devices use the memory of their pool where it is

    [[nodiscard]] const PlanDevice* find(DeviceId id) const;
    [[nodiscard]] const PlanLink* link(DeviceId from, DeviceId to) const;
    /// Whether memory of one of the devices is memory of the other as well.
    [[nodiscard]] bool is_one_pool(DeviceId a, DeviceId b) const;
    /// Whether `compute` uses bytes on `home` where they are.
    [[nodiscard]] bool needs_no_copy(DeviceId home, DeviceId compute) const {
        return home == compute || (is_read_in_place && is_one_pool(home, compute));
    }
    bool operator==(const PlanMachine&) const = default;
};

/// Rates that nobody told are assumed: 12 GB/s between host and device (PCIe 3.0 x16), as much
/// between two devices when neither says more, 1 GB/s from the disk. Capacities are what
/// `assessment` lets weights take now, or the static budget where free memory is unknown; devices
/// that cannot store blocks are left out.
PlanMachine plan_machine(const machine::MachineProfile& profile,
                         const machine::Assessment& assessment);

}  // namespace ballast::plan
