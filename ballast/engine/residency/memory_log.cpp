#include "ballast/engine/residency/memory_log.hpp"

#include <string>
#include <utility>

namespace ballast::residency {

MemoryLog::MemoryLog(Log log, const WallClock& clock, Source readings, ModelManagementLines lines,
                     SeriesBounds bounds)
    : log_(std::move(log)),
      clock_(&clock),
      readings_(std::move(readings)),
      lines_(lines),
      series_(bounds) {}

void MemoryLog::snapshot(std::string_view identifier, std::string_view tag) {
    if (identifier == kPrintSummary) return summary(identifier);
    MemorySnapshot now{.time = clock_->utc(), .tag = std::string(tag), .readings = readings_()};
    say(snapshot_line(now.time, identifier, tag, now.readings));
    series_.record(identifier, std::move(now));
}

void MemoryLog::summary(std::string_view identifier) const {
    for (const auto& line : series_.summary(identifier)) say(line);
}

void MemoryLog::say(std::string_view line) const {
    if (lines_ == ModelManagementLines::off) return;
    log_.focus(std::string(kModelManagementPrefix) + std::string(line));
}

void MemoryLog::load(std::string_view tag) const { log_.focus(load_line(tag, readings_())); }

}  // namespace ballast::residency
