#pragma once
// JSON as workflows use it: members keep the order of the document, because that order is visible
// (in saved pictures, in the order of execution, in what clients show).

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ballast/engine/core/result.hpp"

namespace ballast::graph {

using Json = nlohmann::ordered_json;

/// Deeper documents are refused: copying and writing a value recurses.
inline constexpr std::size_t kMaxJsonDepth = 200;

/// Reads one JSON document, in time linear in its length whatever its shape. The last of repeated
/// members wins. Two extensions, since files of other programs need them: a leading byte order mark
/// is skipped, and the bare words NaN, Infinity and -Infinity are read as null.
/// Fails with `bad_workflow`: `place.file` is `source`, `why` tells line and column.
Result<Json> parse_json(std::string_view text, const std::string& source = {});

/// Appends a member to an object without looking for an equal one first: large objects are built
/// in linear time. The caller vouches for `key` being new.
void append_member(Json& object, std::string key, Json value);

/// The member, or null when `object` is no object or has none of that name.
const Json* find_member(const Json& object, std::string_view key);

}  // namespace ballast::graph
