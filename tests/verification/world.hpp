#pragma once
// One cell's own machine: simulated devices with real bytes, an account, a registry, a free flow
// with its checks on, and a log of memory whose clock ticks once a line.

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ballast/engine/device/sim/sim_machine.hpp"
#include "ballast/engine/device/transfers.hpp"
#include "ballast/engine/residency/free_flow.hpp"
#include "tests/verification/models.hpp"
#include "tests/verification/scaled_machine.hpp"

namespace ballast::verification {

/// A millisecond passes with each look.
class TickingClock final : public WallClock {
public:
    [[nodiscard]] UtcTime utc() const override {
        return kStart + std::chrono::milliseconds{ticks_.fetch_add(1)};
    }
    void start_again() { ticks_ = 0; }

private:
    static constexpr UtcTime kStart{std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} +
                                    std::chrono::hours{3} + std::chrono::minutes{4}};
    mutable std::atomic<std::int64_t> ticks_{0};
};

/// Keeps what the log of memory says, and all warnings.
class Lines final : public LogSink {
public:
    void write(LogLevel level, std::string_view line) override;
    /// Lines of memory since this was last asked, without their prefix.
    std::vector<std::string> take() { return std::exchange(memory_, {}); }
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

private:
    std::vector<std::string> memory_;
    std::vector<std::string> warnings_;
};

class World : private residency::Surroundings {
public:
    /// Of results of nodes, while they are kept.
    static constexpr Bytes kResults{std::uint64_t{256} << 10U};
    /// Of a step's activations, which allocators keep for reuse.
    static constexpr Bytes kActivations{std::uint64_t{512} << 10U};

    World(const MachineRow& row, const ScaledMachine& machine);

    Result<residency::Loading> load(const Model& model, std::string_view text,
                                    residency::Retention retention);
    /// What a prompt leaves behind beside models: results, and activations in allocators' caches.
    Result<void> leave_results(DeviceId compute);

    [[nodiscard]] std::function<void()> dropping_results();
    [[nodiscard]] std::map<DeviceId, Bytes> models_held() const;
    [[nodiscard]] std::map<DeviceId, Bytes> all_held() const;

    // in the order of what needs what
    TickingClock wall_clock;
    VirtualClock clock;
    std::shared_ptr<Lines> lines = std::make_shared<Lines>();
    device::Ledger ledger;
    device::sim::SimMachine simulation;
    device::Transfers transfers;
    residency::MemoryLog memory;
    residency::Registry registry;
    residency::FreeFlow flow;
    /// What each emptying of caches reported.
    std::vector<std::vector<residency::CacheReport>> emptied{};
    int results_dropped = 0;

private:
    [[nodiscard]] plan::PlanMachine room(const std::map<DeviceId, Bytes>& /*held*/) const override {
        return machine_->planning;
    }
    Bytes release_kept() override { return {}; }

    [[nodiscard]] Bytes ours_in_pool() const;
    [[nodiscard]] Bytes host_used() const;
    [[nodiscard]] std::vector<residency::DeviceReading> readings() const;
    [[nodiscard]] residency::DevicePolicy policy(DeviceId device) const;
    [[nodiscard]] residency::FreeFlow::Parts parts();

    const ScaledMachine* machine_;
    device::Reservation results_;
};

}  // namespace ballast::verification
