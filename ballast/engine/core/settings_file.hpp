#pragma once
// Settings from a JSON file: {"models": ["/data/models"], "memory-limit": {"cpu": "8gb"}}.

#include <filesystem>
#include <vector>

#include "ballast/engine/core/settings.hpp"

namespace ballast {

/// Reads one JSON object whose members are settings by their names. Flags are true or false,
/// numbers numbers, lists arrays (or a single value), device sizes an object. Fails with
/// `not_found`, `io`, `foreign_file` (larger than 1 MiB), `corrupt_file` (no JSON object) or
/// `usage` (a member that is no setting, or whose value has the wrong form).
Result<std::vector<GivenSetting>> read_settings_file(const std::filesystem::path& path);

}  // namespace ballast
