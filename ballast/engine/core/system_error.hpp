#pragma once
// What the system's error numbers mean to a user.

#include <filesystem>
#include <string>

#include "ballast/engine/core/error.hpp"

namespace ballast {

/// Why something cannot be read: `not_found` when `number` (an errno) says that there is no such
/// file, else `io`. `what` is what was tried: "cannot open the file".
Error system_error(const std::filesystem::path& path, std::string what, int number);

/// The system's words for an errno. From any thread, unlike strerror.
std::string system_reason(int number);

}  // namespace ballast
