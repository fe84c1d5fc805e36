#pragma once
// Writing a file so that nobody ever sees half of it.

#include <filesystem>
#include <string_view>

#include "ballast/engine/core/result.hpp"

namespace ballast {

/// Writes a new file beside `path`, then renames it. When it fails, what stood at `path` is
/// untouched and nothing is left behind: `not_found` for a missing folder, `write_failed` when
/// there is no room (disk, quota, limit on the size of files), else `io`, with the system's reason
/// and what to do (folder not writable, name too long). `what` names the thing in the error. Links
/// are followed, also to a file that does not exist yet; devices and pipes are written directly.
/// Any number of threads and processes may write the same file: the last one to finish wins, and
/// each reader sees one of them whole.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes,
                        std::string_view what = "file");

/// The same where nothing may be replaced: false, and nothing written, when something stands at
/// `path` already, be it a link that leads nowhere. Of several writers of one path one gets true.
Result<bool> write_new_file(const std::filesystem::path& path, std::string_view bytes,
                            std::string_view what = "file");

}  // namespace ballast
