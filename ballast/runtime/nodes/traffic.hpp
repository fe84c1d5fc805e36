#pragma once
// What moves between devices while models compute, for reports. Loading is no part of it.

#include <map>
#include <mutex>
#include <utility>

#include "ballast/engine/device/sim/sim_machine.hpp"
#include "ballast/engine/device/transfers.hpp"
#include "ballast/graph/runtime.hpp"

namespace ballast::runtime::nodes {

/// Thread-safe; watches belong to the thread that runs nodes.
class Traffic {
public:
    /// Both must outlive it; without a simulation nobody knows times.
    Traffic(const device::Transfers& transfers, const device::sim::SimMachine* simulation)
        : transfers_(&transfers), simulation_(simulation) {}

    /// While it lives, a model computes. One inside of another counts for nothing.
    class [[nodiscard]] Watch {
    public:
        explicit Watch(Traffic& traffic) : traffic_(&traffic) { traffic_->begin(); }
        Watch(Watch&& other) noexcept : traffic_(std::exchange(other.traffic_, nullptr)) {}
        Watch& operator=(Watch&&) = delete;
        ~Watch() {
            if (traffic_ != nullptr) traffic_->end();
        }

    private:
        Traffic* traffic_;
    };

    /// Since the last reset, a watch that still runs included.
    [[nodiscard]] graph::StreamingReport report() const;
    void reset();

private:
    struct Sums {
        device::TransferCount copies{};
        std::uint64_t compute_ns = 0;
        std::uint64_t wall_ns = 0;
        std::map<std::pair<DeviceId, DeviceId>, std::uint64_t> busy_ns{};
    };
    void begin();
    void end();
    [[nodiscard]] Sums so_far() const;
    static void add_difference(Sums& sum, const Sums& start, const Sums& now);

    const device::Transfers* transfers_;
    const device::sim::SimMachine* simulation_;
    mutable std::mutex mutex_;
    int running_ = 0;
    Sums start_;  ///< of the outermost watch
    Sums sum_;    ///< of watches that ended
};

}  // namespace ballast::runtime::nodes
