#pragma once
// What the report tells beside the account of memory: where time went, and which models were
// loaded since the last reset, whether or not somebody still holds them.

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/weights/weight_store.hpp"
#include "ballast/graph/runtime.hpp"

namespace ballast::runtime::nodes {

enum class Phase { load, sample, decode };

/// Thread-safe: nodes write it while others ask for a report.
class Record {
public:
    void add_seconds(Phase phase, double seconds);
    /// A model was loaded; it counts as held for as long as its weights live.
    void add_model(graph::ModelReport report, std::weak_ptr<const weights::WeightStore> weights);

    /// Fills in models, their sums and seconds.
    void write(graph::RuntimeReport& report) const;
    /// Starts anew with the models that are loaded now.
    void reset();

private:
    struct Entry {
        graph::ModelReport report;
        std::weak_ptr<const weights::WeightStore> weights;
    };
    struct Sums {
        std::map<DeviceId, Bytes> planned;
        std::map<DeviceId, Bytes> realised;
    };
    void measure();

    mutable std::mutex mutex_;
    std::array<double, 3> seconds_{};  // by phase
    std::vector<Entry> models_;
    Sums most_;
};

/// Adds the time from its making to its end to a phase of the record.
class Stopwatch {
public:
    Stopwatch(const Clock& clock, Record& record, Phase phase)
        : clock_(&clock), record_(&record), phase_(phase), start_(clock.now()) {}
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    ~Stopwatch() { record_->add_seconds(phase_, seconds()); }

    /// Seconds so far.
    [[nodiscard]] double seconds() const { return clock_->seconds_since(start_); }

private:
    const Clock* clock_;
    Record* record_;
    Phase phase_;
    Nanoseconds start_;
};

}  // namespace ballast::runtime::nodes
