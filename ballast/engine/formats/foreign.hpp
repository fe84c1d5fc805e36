#pragma once
// Files of another kind than their name says, recognised by their first bytes.

#include <optional>
#include <string_view>

#include "ballast/engine/core/error.hpp"

namespace ballast::formats {

/// So many bytes from the start of a file are enough to recognise every kind.
inline constexpr std::size_t kHeadBytes = 4096;

/// What a user should be told about a file that begins with `head` (the whole file if it has fewer
/// than `kHeadBytes`): `foreign_file` with the kind and the remedy, `unsupported` for weight files
/// that we do not read. Nothing if no kind is recognised. `place.file` is left to the caller.
std::optional<Error> recognise_foreign(std::string_view head);

}  // namespace ballast::formats
