#pragma once
// A described machine, and the same at a thousandth of its size, on which real bytes are cheap.
//
// What is decided about it (class, budgets, reserves) is decided for the machine in its full size
// and then made smaller, since reserves of gigabytes would leave nothing of a small one.

#include <cstdint>
#include <string>

#include "ballast/engine/machine/assessment.hpp"
#include "ballast/engine/plan/allocation.hpp"
#include "ballast/engine/plan/plan_machine.hpp"
#include "tests/verification/axes.hpp"

namespace ballast::verification {

/// A byte of the small machine stands for so many.
inline constexpr std::uint64_t kScale = 1024;

struct ScaledMachine {
    machine::MachineProfile full{};
    machine::MachineProfile small{};
    machine::Assessment assessment{};  ///< of the full one
    plan::PlanMachine planning{};      ///< small
    plan::AllocationContext context{};

    [[nodiscard]] const machine::DeviceAssessment& judged(DeviceId device) const;
    /// Whether the device's memory is the host's.
    [[nodiscard]] bool is_pool(DeviceId device) const;
};

/// Throws if there is no such profile.
ScaledMachine scaled_machine(const MachineRow& row, const std::string& profiles);

}  // namespace ballast::verification
