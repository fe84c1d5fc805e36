#include "ballast/graph/near_names.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace ballast::graph {

namespace {

/// Longer names are compared by their first characters: the table below is quadratic.
constexpr std::size_t kComparedLength = 128;

std::string folded(std::string_view name) {
    std::string text{name.substr(0, kComparedLength)};
    for (char& c : text) {
        if (c == '\\') c = '/';
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return text;
}

/// Levenshtein distance: insertions, deletions and replacements, one row of the table at a time.
std::size_t edits(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

/// Smaller is nearer; nothing if the names have little in common.
std::optional<std::size_t> distance(std::string_view wanted, std::string_view candidate) {
    const std::size_t count = edits(wanted, candidate);
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
