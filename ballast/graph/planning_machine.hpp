#pragma once
// The machine as plans for models see it: its profile, what was decided about its memory, and what
// of that concerns placement.

#include <optional>
#include <span>

#include "ballast/engine/machine/assessment.hpp"
#include "ballast/engine/machine/options.hpp"
#include "ballast/engine/plan/allocation.hpp"
#include "ballast/engine/plan/plan_machine.hpp"

namespace ballast::graph {

/// Who computes: the devices themselves, by way of the runtime, or nobody but a plan.
enum class MachineKind { simulated, real };

struct PlanningMachine {
    MachineKind kind = MachineKind::simulated;
    unsigned threads = 1;  ///< of the processor's arithmetic, each of which has its own scratch
    machine::MachineProfile profile{};
    machine::MemoryOptions options{};
    machine::Assessment assessment{};
    plan::PlanMachine devices{};        ///< capacities when nothing of ours is loaded
    plan::AllocationContext context{};  ///< for allocation texts
};

/// Judges a machine. Accelerators that are not among `usable` count as absent: nobody computes
/// there. Empty: all are usable. On a real machine no device reads the memory of another where it
/// is, pools or not: the runtime gives each tensors of its own memory.
PlanningMachine planning_machine(machine::MachineProfile profile, machine::MemoryOptions options,
                                 std::optional<std::span<const DeviceId>> usable = std::nullopt,
                                 MachineKind kind = MachineKind::simulated);

/// The devices that nodes offer: those that can store blocks.
std::vector<DeviceId> offered_devices(const PlanningMachine& machine);

}  // namespace ballast::graph
