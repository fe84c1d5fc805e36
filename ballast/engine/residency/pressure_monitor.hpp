#pragma once
// When the host's memory is so full that caches shall be dropped, and when it has been said.
//
// Pure: readings come in, and what to do goes out. Dropping is the caller's business.

#include <functional>
#include <optional>
#include <string>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/clock.hpp"

namespace ballast::residency {

/// Percent of the host's memory in use beyond which something is done.
inline constexpr double kPressureThreshold = 85.0;
/// Points by which usage must have risen since the last reset for another one, and must fall below
/// the threshold for the next one to count as the first.
inline constexpr double kPressureHysteresis = 5.0;

/// What is in use, in percent: (total - available) / total * 100. Empty if unknown, or for no
/// memory at all; 0 where more is available than there is.
std::optional<double> usage_percent(std::optional<Bytes> total, std::optional<Bytes> available);

enum class PressureAction {
    none,
    reset,  ///< drop caches, warn
    skip,   ///< too soon after the last reset: dropping again would free nothing
};

/// What follows from one reading.
struct PressureLook {
    PressureAction action = PressureAction::none;
    double usage = 0;   ///< in percent
    std::string tag{};  ///< of the snapshot: "trigger:86.4pct", "skip_hysteresis:90.0pct"; or empty
};

/// Not thread-safe.
class PressureMonitor {
public:
    /// A reading that is no percentage (not a number, below 0, above 100) says nothing and changes
    /// nothing.
    PressureLook look(double usage_percent);

    /// Caches were dropped for whatever reason, at this usage.
    void note_reset(double usage_percent);

    /// Usage at the last reset; 0: there was none, or memory has been free since.
    [[nodiscard]] double last_reset() const { return last_; }

private:
    double last_ = 0;
};

/// Looks at most once per interval, so that asking it often is cheap. Not thread-safe.
class PressureWatch {
public:
    /// Usage in percent now; empty: unknown.
    using Reading = std::function<std::optional<double>()>;
    static constexpr Nanoseconds kUsualInterval{1'000'000'000};

    /// `clock` must outlive it.
    PressureWatch(Reading read, const Clock& clock, Nanoseconds interval = kUsualInterval)
        : read_(std::move(read)), clock_(&clock), interval_(interval) {}

    /// `none`, without a reading, before the interval since the last look is over.
    PressureLook look();

    /// Caches were dropped just now. Always takes a reading.
    void note_reset();

    [[nodiscard]] const PressureMonitor& monitor() const { return monitor_; }

private:
    Reading read_;
    const Clock* clock_;
    Nanoseconds interval_;
    std::optional<Nanoseconds> looked_at_{};
    PressureMonitor monitor_;
};

}  // namespace ballast::residency
