#pragma once
// Every accelerator of a machine profile as a device that holds real bytes: its capacity and
// granularity are those of the profile, copies take latency and bytes over rate on the given clock,
// and a link that is busy is waited for. The bytes lie in host memory.
//
// A copy happens when its time has come, not when it is asked for: whoever forgets to wait for it
// reads what was there before, on every run.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "ballast/engine/device/device_set.hpp"
#include "ballast/engine/device/ledger.hpp"
#include "ballast/engine/device/sim/sim_time.hpp"
#include "ballast/engine/machine/profile.hpp"

namespace ballast::device::sim {

class Bus;

/// What shall go wrong on one device; counted from 1, from when it is asked for.
struct Faults {
    std::optional<std::uint64_t> allocation{};  ///< this allocation fails with `out_of_memory`
    std::optional<std::uint64_t> copy{};        ///< this copy fails with `io`, when it is done
    std::optional<std::uint64_t> lost_at{};     ///< at this copy the device is lost for good
    bool empty_cache = false;  ///< emptying the cache fails with `io`, and keeps it
};

/// What a link did so far.
struct LinkUse {
    DeviceId from{};
    DeviceId to{};
    std::uint64_t copies = 0;
    Bytes bytes{};
    std::uint64_t busy_ns = 0;
    std::uint64_t bytes_per_s = 0;

    bool operator==(const LinkUse&) const = default;
};

class SimMachine {
public:
    /// `ledger` is told what the host holds for simulated devices (tag simulation on cpu); it must
    /// outlive all memory of the devices. Null: nobody is told.
    SimMachine(const machine::MachineProfile& profile, std::shared_ptr<SimTime> time,
               Ledger* ledger = nullptr);

    /// The host, and every accelerator of the profile.
    [[nodiscard]] const DeviceSet& devices() const { return devices_; }
    [[nodiscard]] SimTime& time() const;

    /// From now on `faults` happen on `device`, instead of what was asked for before.
    void inject(DeviceId device, Faults faults);
    /// Changes the rate of a link, in bytes per second. Copies that are queued keep their times.
    void set_rate(DeviceId from, DeviceId to, std::uint64_t bytes_per_s);

    /// From now on blocks of `device` that are given back stay with its allocator, as those of
    /// torch do: neither held nor free, given out again for a request that rounds to the same size,
    /// let go by `empty_cache` or where an allocation would not fit otherwise.
    void keep_cache(DeviceId device);
    /// How often something was asked of `device` for which there would be a driver to call:
    /// allocations, streams, copies, waiting, emptying. Looking at it is none.
    [[nodiscard]] std::uint64_t calls(DeviceId device) const;

    /// Arithmetic of so many floating-point operations: returns when its time has passed. None, if
    /// the device's speed is unknown.
    void compute(DeviceId device, std::uint64_t flops);

    /// Reading so much from the disk into host memory: returns when its time has passed.
    void read_disk(Bytes bytes);

    /// Links that were used, ordered by their ends.
    [[nodiscard]] std::vector<LinkUse> link_use() const;
    /// Time that `compute` took, on all devices.
    [[nodiscard]] std::uint64_t compute_ns() const { return compute_ns_.load(); }

private:
    std::map<DeviceId, std::uint64_t> flops_per_s_;
    std::shared_ptr<Bus> bus_;
    DeviceSet devices_;
    std::atomic<std::uint64_t> compute_ns_{0};
};

}  // namespace ballast::device::sim
