#pragma once
// Tells the log what happens to memory, and remembers it.

#include <functional>
#include <string_view>
#include <vector>

#include "ballast/engine/core/log.hpp"
#include "ballast/engine/residency/memory_series.hpp"

namespace ballast::residency {

/// Whether the lines of model management are written. They are many.
enum class ModelManagementLines { off, on };

/// Thread-safe if its source of readings is; that is called without any lock, once for each
/// snapshot and each load line, on the caller's thread. `clock` must outlive it.
class MemoryLog {
public:
    using Source = std::function<std::vector<DeviceReading>()>;

    MemoryLog(Log log, const WallClock& clock, Source readings, ModelManagementLines lines,
              SeriesBounds bounds = {});

    /// Remembers what is used now, and writes it as a line of model management. With
    /// `kPrintSummary` as the identifier it is `summary` of that instead, whatever the tag.
    void snapshot(std::string_view identifier, std::string_view tag);

    /// Writes the `MemorySeries::summary` of an identifier as lines of model management.
    void summary(std::string_view identifier) const;

    /// Writes one line of model management: at `focus`, behind `kModelManagementPrefix`, and only
    /// if they are on.
    void say(std::string_view line) const;

    /// Writes the `load_line` of now at `focus`, whether the others are on or off.
    void load(std::string_view tag) const;

    [[nodiscard]] const MemorySeries& series() const { return series_; }

private:
    Log log_;
    const WallClock* clock_;
    Source readings_;
    ModelManagementLines lines_;
    MemorySeries series_;
};

}  // namespace ballast::residency
