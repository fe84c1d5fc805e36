#pragma once
// Small files as text.

#include <filesystem>
#include <string>

#include "ballast/engine/core/bytes.hpp"

namespace ballast {

/// The whole file, which may be a pipe; "-" is standard input. Fails with `not_found`, `io` (also:
/// a folder), or `foreign_file` when there are more than `most` bytes.
Result<std::string> read_text_file(const std::filesystem::path& path, Bytes most);

}  // namespace ballast
