#pragma once
// Memory over time: the latest snapshots of each identifier, for a summary at the end.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/residency/memory_lines.hpp"

namespace ballast::residency {

/// In the place of an identifier: all of them.
inline constexpr std::string_view kPrintSummary = "print_summary";

/// A program that runs for months records forever, so both are bounded.
struct SeriesBounds {
    std::size_t snapshots = 1024;   ///< of one identifier; the oldest goes
    std::size_t identifiers = 256;  ///< the one goes that was recorded longest ago
};

struct MemorySnapshot {
    UtcTime time{};
    std::string tag{};
    std::vector<DeviceReading> readings{};
};

/// Thread-safe.
class MemorySeries {
public:
    explicit MemorySeries(SeriesBounds bounds = {});

    void record(std::string_view identifier, MemorySnapshot snapshot);

    /// `=== memory summary: <identifier> ===`, then a `snapshot_line` for each that is kept; for
    /// `kPrintSummary` those of all identifiers, sorted by text. No lines for an unknown one.
    [[nodiscard]] std::vector<std::string> summary(std::string_view identifier) const;

private:
    struct Kept {
        std::deque<MemorySnapshot> snapshots{};
        std::uint64_t last = 0;  ///< number of the latest record
    };

    SeriesBounds bounds_;
    mutable std::mutex mutex_;
    std::map<std::string, Kept, std::less<>> kept_;
    std::uint64_t records_ = 0;
};

}  // namespace ballast::residency
