#pragma once
// JSON text as Python's json.dumps writes it: what ComfyUI stores in pictures.

#include <string>

#include "ballast/graph/json.hpp"

namespace ballast::graph {

/// One line with ", " and ": " as separators. Everything outside ASCII is written as \uXXXX
/// (surrogate pairs beyond U+FFFF), numbers as Python's repr() does (1.5, 1e-05, 1e+16, NaN,
/// Infinity). Malformed UTF-8 in a text becomes U+FFFD.
std::string python_json(const Json& value);

}  // namespace ballast::graph
