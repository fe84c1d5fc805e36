#pragma once
// The machine that a command speaks of: this one, or the one of --simulate.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ballast/cli/command.hpp"
#include "ballast/cli/console.hpp"
#include "ballast/engine/machine/assessment.hpp"
#include "ballast/graph/planning_machine.hpp"

namespace ballast::cli {

struct Machine {
    machine::MachineProfile profile;
    machine::MemoryOptions options;
    machine::Assessment assessment;
    std::vector<std::string> warnings{};  ///< of reading the profile, then of judging it
    bool is_simulated = false;
};

/// Discovers this machine or reads --simulate's profile, and judges it under the settings' flags.
Result<Machine> machine_of(const Settings& settings);

/// As plans see it. A real machine computes as the runtime does, with a thread for each core.
graph::PlanningMachine planning_machine_of(const Machine& machine,
                                           std::optional<std::span<const DeviceId>> usable = {});

/// The document of `ballast devices --json`.
Json devices_document(const Machine& machine);

}  // namespace ballast::cli
