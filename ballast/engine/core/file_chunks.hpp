#pragma once
// Reading a file from its beginning to its end.

#include <filesystem>
#include <functional>
#include <string_view>

#include "ballast/engine/core/result.hpp"

namespace ballast {

/// Gives the file's bytes to `take`, piece by piece in their order, until that fails. The file may
/// be a pipe; "-" is standard input. Fails with `not_found`, `io` (also: a folder), or as `take`.
Result<void> for_each_chunk(const std::filesystem::path& path,
                            const std::function<Result<void>(std::string_view)>& take);

}  // namespace ballast
