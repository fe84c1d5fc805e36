#pragma once
// Settings as the runtime and the executor want them.

#include <string>
#include <string_view>
#include <vector>

#include "ballast/cli/machine.hpp"
#include "ballast/engine/core/settings.hpp"
#include "ballast/graph/execution.hpp"
#include "ballast/graph/runtime.hpp"
#include "ballast/graph/workflow_plan.hpp"

namespace ballast::cli {

/// Settings of `ballast run` from all sources, the file that --settings names included. Fails with
/// `usage` when that and the workflow are both standard input.
Result<Settings> run_settings(const std::vector<GivenSetting>& command_line,
                              std::string_view workflow);

/// Fails with `usage` for a limit of a device that the machine does not have.
Result<void> require_limited_devices(const Settings& settings, const Machine& machine);

/// Where a workflow's files are; everything else is left as it is by default.
graph::RuntimeOptions folder_options(const Settings& settings);
/// All but the log.
graph::RuntimeOptions runtime_options(const Settings& settings, const Machine& machine);
/// What holds for all models of a workflow; `allocation` for networks whose loader says nothing.
graph::WorkflowWishes wishes_of(const Settings& settings, std::string allocation);
/// Standard error beside the progress, and the file that ComfyUI-MultiGPU's variables name, which
/// is emptied now if they say so.
Log run_log(const Settings& settings);
graph::CachePolicy cache_policy(const Settings& settings);
graph::Folders folders(const graph::RuntimeOptions& options);

}  // namespace ballast::cli
