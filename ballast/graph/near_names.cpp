#include "ballast/graph/near_names.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/engine/core/nearest_name.hpp"

namespace ballast::graph {

namespace {

/// Longer names are compared by their first characters: the distance is quadratic.
constexpr std::size_t kComparedLength = 128;

std::string folded(std::string_view name) {
    auto text = lower(name.substr(0, kComparedLength));
    std::replace(text.begin(), text.end(), '\\', '/');
    return text;
}

/// Smaller is nearer; nothing if the names have little in common.
std::optional<std::size_t> distance(std::string_view wanted, std::string_view candidate) {
    const std::size_t count = edit_distance(wanted, candidate);
    const std::size_t longer = std::max(wanted.size(), candidate.size());
    if (3 * count <= longer) return count;
    const auto shorter = std::min(wanted.size(), candidate.size());
    const bool contains = wanted.find(candidate) != std::string_view::npos ||
                          candidate.find(wanted) != std::string_view::npos;
    if (contains && shorter >= 3) return count;
    return std::nullopt;
}

}  // namespace

std::vector<std::string> near_names(std::string_view name, std::span<const std::string> candidates,
                                    std::size_t limit) {
    const std::string wanted = folded(name);
    std::vector<std::pair<std::size_t, std::size_t>> ranked;  // distance, position
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (const auto found = distance(wanted, folded(candidates[i])))
            ranked.emplace_back(*found, i);
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(limit, ranked.size()); ++i)
        names.push_back(candidates[ranked[i].second]);
    return names;
}

std::string joined(std::span<const std::string> parts, std::string_view separator) {
    std::string text;
    for (const auto& part : parts) {
        if (!text.empty()) text += separator;
        text += part;
    }
    return text;
}

}  // namespace ballast::graph
