#pragma once
// What the models of a session share: the machine with its devices, the account, buffers for
// widening, what reports and the log are told, and the registry that owns the weights.

#include <map>
#include <memory>

#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/core/log.hpp"
#include "ballast/engine/device/sim/sim_machine.hpp"
#include "ballast/engine/device/transfers.hpp"
#include "ballast/engine/residency/free_flow.hpp"
#include "ballast/engine/residency/registry.hpp"
#include "ballast/graph/planning_machine.hpp"
#include "ballast/graph/runtime.hpp"
#include "ballast/runtime/nodes/memory_readings.hpp"
#include "ballast/runtime/nodes/record.hpp"
#include "ballast/runtime/nodes/traffic.hpp"
#include "ballast/runtime/tensor/weight_source.hpp"

namespace ballast::runtime::nodes {

class Workbench : private residency::Surroundings {
public:
    explicit Workbench(const graph::RuntimeOptions& options);
    Workbench(const Workbench&) = delete;
    Workbench& operator=(const Workbench&) = delete;
    ~Workbench() override;

    [[nodiscard]] const std::shared_ptr<device::Ledger>& ledger() const { return ledger_; }
    [[nodiscard]] const graph::PlanningMachine& machine() const { return machine_; }
    [[nodiscard]] const device::DeviceSet& devices() const { return transfers_->devices(); }
    [[nodiscard]] device::Transfers& transfers() { return *transfers_; }
    /// Null: the devices are real.
    [[nodiscard]] device::sim::SimMachine* simulation() const { return simulation_.get(); }
    /// Whether the processor only plays the part of `device`.
    [[nodiscard]] bool is_simulated(DeviceId device) const {
        return simulation_ != nullptr && device != kCpu;
    }
    /// Where weights of models that compute on `compute` are widened. For a simulated device that
    /// is host memory, which is told as such.
    [[nodiscard]] WideningBuffer& widening(DeviceId compute);
    /// Gives the buffers' memory back; nothing may compute.
    void clear_widening();

    [[nodiscard]] residency::Registry& registry() { return *registry_; }
    [[nodiscard]] residency::FreeFlow& flow() { return *flow_; }
    [[nodiscard]] residency::MemoryLog& memory() { return *memory_; }

    /// What moves while models compute.
    [[nodiscard]] Traffic& traffic() const { return *traffic_; }

    const RealClock clock{};
    Record record{};
    Log log{};

private:
    // what the registry asks
    [[nodiscard]] plan::PlanMachine room(const std::map<DeviceId, Bytes>& held) const override;
    void make_way() override {
        clear_widening();
        transfers_->release_staging();
    }
    void models_went() override { static_cast<void>(empty_caches(machine::EmptyingCall::forced)); }
    Bytes release_kept() override;

    Bytes release_host_memory();
    void own_models(const graph::RuntimeOptions& options);
    std::vector<residency::CacheReport> empty_caches(machine::EmptyingCall call);

    std::shared_ptr<device::Ledger> ledger_ = std::make_shared<device::Ledger>();
    graph::PlanningMachine machine_;
    std::unique_ptr<device::sim::SimMachine> simulation_;
    std::unique_ptr<device::DeviceSet> real_devices_;  ///< null: simulated
    std::unique_ptr<device::Transfers> transfers_;
    std::unique_ptr<Traffic> traffic_;
    std::map<DeviceId, WideningBuffer> widening_;  ///< by compute device
    RealWallClock wall_clock_;
    std::unique_ptr<HostMemory> host_;
    std::unique_ptr<residency::MemoryLog> memory_;
    std::unique_ptr<residency::Registry> registry_;
    std::unique_ptr<residency::FreeFlow> flow_;
};

}  // namespace ballast::runtime::nodes
