#pragma once
// Suggestions for a name that does not exist.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ballast::graph {

/// At most `limit` of `candidates` that look like `name`, the most similar first: few edits apart
/// (letter case and the kind of slash do not count), or one contained in the other.
std::vector<std::string> near_names(std::string_view name, std::span<const std::string> candidates,
                                    std::size_t limit = 3);

/// "a, b, c".
std::string joined(std::span<const std::string> parts, std::string_view separator = ", ");

}  // namespace ballast::graph
