#pragma once
// Accelerators that a run leaves alone although the machine has them, each in a sentence.

#include <span>
#include <string>
#include <vector>

#include "ballast/engine/core/device_id.hpp"
#include "ballast/engine/machine/assessment.hpp"
#include "ballast/engine/plan/plan_machine.hpp"

namespace ballast::cli {

/// Those that could compute, but cannot store blocks.
std::vector<std::string> devices_without_storage(const machine::Assessment& assessment);

/// Those that plans may use, but that the runtime, which has `devices`, cannot drive.
std::vector<std::string> devices_without_runtime(const plan::PlanMachine& machine,
                                                 std::span<const DeviceId> devices);

}  // namespace ballast::cli
