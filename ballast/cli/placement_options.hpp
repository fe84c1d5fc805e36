#pragma once
// What the options of `ballast plan` and `ballast run` say about placement.

#include <optional>
#include <string>

#include "ballast/engine/core/settings.hpp"
#include "ballast/engine/plan/plan_machine.hpp"

namespace ballast::cli {

/// The error of `ballast plan` for wrong use.
Error plan_usage(std::string key, std::string why, std::string hint);

/// The allocation text that the options stand for (--allocation, --compute, --virtual-vram and
/// --donors), in the full form; empty: automatic. Fails with `usage` where they contradict.
Result<std::string> allocation_text(const Settings& settings);

/// What --compute names; empty: nothing. Fails with `usage` unless `machine` has it.
Result<std::optional<DeviceId>> compute_device(const Settings& settings,
                                               const plan::PlanMachine& machine);

/// What the user says that a step takes beside the weights; empty: nothing.
Result<std::optional<Bytes>> activations_asked_for(const Settings& settings);

}  // namespace ballast::cli
