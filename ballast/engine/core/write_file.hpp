#pragma once
// Writing a file so that nobody ever sees half of it.

#include <filesystem>
#include <string_view>

#include "ballast/engine/core/result.hpp"

namespace ballast::cli {

/// Writes a new file beside `path`, then renames it. A file that stood there before stays untouched
/// when it fails (`io`, `not_found` for a missing folder). Devices and pipes are written directly.
Result<void> write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace ballast::cli
