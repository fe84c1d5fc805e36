#pragma once
// The settings of one call from all their sources: options, environment, and the file of
// --settings.

#include <filesystem>
#include <vector>

#include "ballast/engine/core/settings.hpp"

namespace ballast::cli {

/// The file that --settings names; empty if it is not given.
std::filesystem::path settings_file_of(const std::vector<GivenSetting>& command_line);

/// Resolves the settings of `command`. Fails as `read_settings_file` and `resolve_settings` do.
Result<Settings> command_settings(CommandMask command,
                                  const std::vector<GivenSetting>& command_line);

}  // namespace ballast::cli
