#pragma once
// Writing a file so that nobody ever sees half of it.

#include <filesystem>
#include <string_view>

#include "ballast/engine/core/result.hpp"

namespace ballast {

/// Writes a new file beside `path`, then renames it. When it fails, what stood at `path` is
/// untouched and nothing is left behind: `not_found` for a missing folder, else `io`, with the
/// system's reason and what to do (disk full, folder not writable, name too long). `what` names the
/// thing in the error. Links are followed; devices and pipes are written directly.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes,
                        std::string_view what = "file");

}  // namespace ballast
