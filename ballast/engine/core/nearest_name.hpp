#pragma once
// What somebody meant who wrote a name that does not exist.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace ballast {

/// How many insertions, deletions, replacements and swaps of neighbours make `b` of `a` (optimal
/// string alignment: Damerau 1964, without repeated edits of one place). Quadratic.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that differs from `name` by the fewest insertions, deletions, replacements and
/// swaps of neighbours, letter case ignored; the first of equals. Nothing if even the best one
/// differs in more than a third of its letters, so that no absurd suggestion is made.
std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates);

}  // namespace ballast
