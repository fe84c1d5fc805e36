#pragma once
// Time as a parameter. Nothing in Ballast asks the system for the time by itself.

#include <atomic>
#include <chrono>
#include <string>

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

/// An instant of Coordinated Universal Time.
using UtcTime = std::chrono::sys_time<std::chrono::microseconds>;

/// A source of the time of day: for what people read, not for measuring, since it may jump.
/// Thread-safe.
class WallClock {
public:
    WallClock() = default;
    WallClock(const WallClock&) = delete;
    WallClock& operator=(const WallClock&) = delete;
    virtual ~WallClock() = default;

    [[nodiscard]] virtual UtcTime utc() const = 0;
};

/// The machine's system clock.
class RealWallClock final : public WallClock {
public:
    [[nodiscard]] UtcTime utc() const override;
};

/// Stands still until it is set: for tests.
class FixedWallClock final : public WallClock {
public:
    explicit FixedWallClock(UtcTime at);
    [[nodiscard]] UtcTime utc() const override;
    void set(UtcTime at);

private:
    std::atomic<UtcTime::rep> since_epoch_;
};

enum class SecondDigits { milliseconds, microseconds };

/// "2026-01-02T03:04:05.678Z", or with six digits behind the point. What follows them is cut off,
/// so that no text lies ahead of its instant.
std::string utc_text(UtcTime time, SecondDigits digits);

}  // namespace ballast
