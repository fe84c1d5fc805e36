#pragma once
// Files of another kind than their name says, recognised by their first bytes.

#include <optional>
#include <span>
#include <string_view>

#include "ballast/engine/core/error.hpp"

namespace ballast::formats {

/// What a user should be told about a file that begins with `head` (up to 512 bytes), or nothing
/// if it may be a weight file that we read. `place.file` is left to the caller.
std::optional<Error> recognise_foreign(std::string_view head);

}  // namespace ballast::formats
