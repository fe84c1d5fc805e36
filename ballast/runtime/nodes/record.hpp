#pragma once
// What the report tells beside the account of memory: where time went, and which models were
// loaded since the last reset, whether or not somebody still holds them.

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/weights/weight_store.hpp"
#include "ballast/graph/runtime.hpp"

namespace ballast::runtime::nodes {

enum class Phase { load, sample, decode };

class Stopwatch;

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

    friend class Stopwatch;
    Stopwatch* running_ = nullptr;  ///< the innermost one

    mutable std::mutex mutex_;
    std::array<double, 3> seconds_{};  // by phase
    std::vector<Entry> models_;
    Sums most_;
};

/// Adds the time from its making to its end to a phase of the record, without the time of other
/// watches that ran inside of it. On the thread that runs nodes.
class Stopwatch {
public:
    Stopwatch(const Clock& clock, Record& record, Phase phase)
        : clock_(&clock),
          record_(&record),
          phase_(phase),
          start_(clock.now()),
          outer_(std::exchange(record.running_, this)) {}
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    ~Stopwatch() {
        const auto all = seconds();
        record_->add_seconds(phase_, all - inner_seconds_);
        if (outer_ != nullptr) outer_->inner_seconds_ += all;
        record_->running_ = outer_;
    }

    /// Seconds so far.
    [[nodiscard]] double seconds() const { return clock_->seconds_since(start_); }

private:
    const Clock* clock_;
    Record* record_;
    Phase phase_;
    Nanoseconds start_;
    Stopwatch* outer_;
    double inner_seconds_ = 0;
};

}  // namespace ballast::runtime::nodes
