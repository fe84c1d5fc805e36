#include "ballast/engine/residency/memory_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ballast::residency {

MemorySeries::MemorySeries(SeriesBounds bounds) : bounds_(bounds) {}

void MemorySeries::record(std::string_view identifier, MemorySnapshot snapshot) {
    const std::scoped_lock lock(mutex_);
    auto& kept = kept_[std::string(identifier)];
    kept.last = ++records_;
    kept.snapshots.push_back(std::move(snapshot));
    while (kept.snapshots.size() > bounds_.snapshots) kept.snapshots.pop_front();
    while (kept_.size() > bounds_.identifiers)
        kept_.erase(std::ranges::min_element(kept_, {},
                                             [](const auto& entry) { return entry.second.last; }));
}

std::vector<std::string> MemorySeries::summary(std::string_view identifier) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> lines;
    for (const auto& [name, kept] : kept_) {
        if (identifier != kPrintSummary && identifier != name) continue;
        lines.push_back(fmt::format("=== memory summary: {} ===", name));
        for (const auto& [time, tag, readings] : kept.snapshots)
            lines.push_back(snapshot_line(time, name, tag, readings));
    }
    return lines;
}

}  // namespace ballast::residency
