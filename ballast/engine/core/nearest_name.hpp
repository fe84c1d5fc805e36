#pragma once
// What somebody meant who wrote a name that does not exist.

#include <optional>
#include <span>
#include <string_view>

namespace ballast {

/// The candidate that differs from `name` by the fewest insertions, deletions, replacements and
/// swaps of neighbours, letter case ignored; the first of equals. Nothing if even the best one
/// differs in more than a third of its letters, so that no absurd suggestion is made.
std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates);

}  // namespace ballast
