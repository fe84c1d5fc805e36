#pragma once
// The time of simulated devices: virtual, which passes only when everybody waits for it, or real.

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>

#include "ballast/engine/core/clock.hpp"

namespace ballast::device::sim {

/// A clock on which one can wait. Thread-safe.
class SimTime : public Clock {
public:
    /// Returns once `now()` has reached `moment`.
    virtual void wait_until(Nanoseconds moment) = 0;
};

/// A scheduler: threads take part in it, and time jumps to the earliest moment that one of them
/// waits for as soon as all of them wait. Nothing else makes it pass. Without participants, whoever
/// waits is the only one. Either all threads that wait take part, or none.
class VirtualTime final : public SimTime {
public:
    [[nodiscard]] Nanoseconds now() const override;
    void wait_until(Nanoseconds moment) override;

    /// Makes a thread take part while it lives. Made before the thread starts, so that time cannot
    /// pass in between.
    class [[nodiscard]] Participant {
    public:
        explicit Participant(VirtualTime& time) : time_(&time) { time_->join(); }
        Participant(const Participant&) = delete;
        Participant& operator=(const Participant&) = delete;
        ~Participant() { time_->leave(); }

    private:
        VirtualTime* time_;
    };

    /// While it lives, its participant waits for something that is not time: the others go on.
    class [[nodiscard]] Blocked {
    public:
        explicit Blocked(VirtualTime& time) : time_(&time) { time_->leave(); }
        Blocked(const Blocked&) = delete;
        Blocked& operator=(const Blocked&) = delete;
        ~Blocked() { time_->join(); }

    private:
        VirtualTime* time_;
    };

private:
    void join();
    void leave();
    void advance_if_all_wait(const std::unique_lock<std::mutex>& lock);

    mutable std::mutex mutex_;
    std::condition_variable passed_;
    Nanoseconds now_{0};
    std::multiset<Nanoseconds> awaited_;
    std::size_t participants_ = 0;
};

/// The machine's steady clock; waiting sleeps.
class RealTime final : public SimTime {
public:
    [[nodiscard]] Nanoseconds now() const override { return clock_.now(); }
    void wait_until(Nanoseconds moment) override;

private:
    RealClock clock_;
};

}  // namespace ballast::device::sim
