#pragma once
// Time as a parameter. Nothing in Ballast asks the system for the time by itself.

#include <atomic>
#include <chrono>

namespace ballast {

using Nanoseconds = std::chrono::nanoseconds;

/// A source of monotonic time, counted from an arbitrary origin. Thread-safe.
class Clock {
public:
    Clock() = default;
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    virtual ~Clock() = default;

    [[nodiscard]] virtual Nanoseconds now() const = 0;
    /// Seconds from `since` to now.
    [[nodiscard]] double seconds_since(Nanoseconds since) const {
        return std::chrono::duration<double>(now() - since).count();
    }
};

/// The machine's steady clock.
class RealClock final : public Clock {
public:
    [[nodiscard]] Nanoseconds now() const override;
};

/// Time that stands still until it is advanced: for tests.
class VirtualClock final : public Clock {
public:
    [[nodiscard]] Nanoseconds now() const override;
    void advance(Nanoseconds by);

private:
    std::atomic<Nanoseconds::rep> now_{0};
};

}  // namespace ballast
