#pragma once
// Writing a picture so that nobody ever sees half of it.

#include <filesystem>
#include <string_view>

#include "ballast/engine/core/result.hpp"

namespace ballast::runtime::image {

/// Writes a new file beside `path`, then renames it. When it fails, what stood at `path` is
/// untouched and nothing is left behind: `not_found` for a missing folder, else `io`, with the
/// system's reason and what to do (disk full, folder not writable, name too long).
Result<void> write_output(const std::filesystem::path& path, std::string_view bytes);

}  // namespace ballast::runtime::image
