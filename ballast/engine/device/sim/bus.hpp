#pragma once
// What the simulated devices of one machine share: time, links, queued copies, faults, one lock.

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "ballast/engine/device/device.hpp"
#include "ballast/engine/device/sim/link_table.hpp"

namespace ballast::device::sim {

/// Copies of one stream that are not done yet, in their order.
struct Queue {
    /// A copy, or something to wait for: then both ends are empty.
    struct Entry {
        Nanoseconds done_at{};
        Target to{};
        Source from{};
        std::shared_ptr<Queue> after{};  ///< goes on after so many of its entries
        std::uint64_t after_count = 0;
        std::optional<Error> fault{};
    };

    DeviceId device{};
    std::deque<Entry> entries{};
    Nanoseconds ready{};  ///< when the last entry is done
    std::uint64_t queued = 0;
    std::uint64_t done = 0;
    std::optional<Error> failure{};  ///< the first one; nothing is copied after it
    std::uint64_t failed_at = 0;     ///< the entry that failed, counted from 1
};

/// Thread-safe.
class Bus {
public:
    Bus(std::shared_ptr<SimTime> time, std::vector<machine::LinkRate> rates)
        : time_(std::move(time)), links_(std::move(rates)) {}

    [[nodiscard]] SimTime& time() const { return *time_; }

    void inject(DeviceId device, Faults faults);
    void set_rate(DeviceId from, DeviceId to, std::uint64_t bytes_per_s);
    [[nodiscard]] bool is_peer(DeviceId from, DeviceId to) const;
    [[nodiscard]] std::vector<LinkUse> link_use() const;
    /// Takes a link from now on, or when it is free; returns when the bytes have arrived.
    Nanoseconds take_link(DeviceId from, DeviceId to, Bytes bytes);

    void keep_cache(DeviceId device);
    [[nodiscard]] bool keeps_cache(DeviceId device) const;

    /// Counts a call into `device`; emptying, and whatever streams do, is counted where it is done.
    void count_call(DeviceId device);
    [[nodiscard]] std::uint64_t calls(DeviceId device) const;

    /// Counts an allocation on `device`; fails as its faults say.
    Result<void> allow_allocation(DeviceId device);
    /// Fails as the faults of `device` say.
    Result<void> allow_emptying(DeviceId device);
    /// Returns when all copies that are queued there are done. Fails if the device is lost.
    Result<void> finish(DeviceId device);

    std::shared_ptr<Queue> open(DeviceId device);
    Result<void> copy(const std::shared_ptr<Queue>& queue, Target to, Source from);
    /// `queue` goes on after the first `count` entries of `other`, which are done at `moment`.
    void order(Queue& queue, const std::shared_ptr<Queue>& other, std::uint64_t count,
               Nanoseconds moment);
    /// Returns at `moment`, when the first `count` entries of the queue are done; fails with what
    /// went wrong among them.
    Result<void> wait(Queue& queue, std::uint64_t count, Nanoseconds moment);
    [[nodiscard]] bool is_done(Queue& queue, std::uint64_t count);
    [[nodiscard]] Nanoseconds ready(const Queue& queue) const;
    [[nodiscard]] std::uint64_t queued(const Queue& queue) const;
    /// Waits for all copies from and to that memory.
    void settle(std::span<const std::byte> memory);

private:
    struct Injected {
        Faults faults{};
        std::uint64_t allocations = 0;
        std::uint64_t copies = 0;
        bool is_lost = false;
    };

    /// Waits for those queues that `is_meant`; it is asked with the lock held.
    template <typename F>
    void finish_queues(const F& is_meant);

    // all of these are called with the lock held
    std::optional<Error> fault_of(DeviceId device);
    /// Does what is due, but no more than the first `count` entries.
    void run_due(Queue& queue, std::uint64_t count, Nanoseconds now);

    std::shared_ptr<SimTime> time_;
    mutable std::mutex mutex_;
    LinkTable links_;
    std::map<DeviceId, Injected> injected_;
    std::map<DeviceId, std::uint64_t> calls_;
    std::set<DeviceId> caching_;
    std::vector<std::weak_ptr<Queue>> queues_;
};

}  // namespace ballast::device::sim
