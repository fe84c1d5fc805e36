#include "ballast/engine/core/nearest_name.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ballast/engine/core/ascii.hpp"

namespace ballast {
namespace {

/// Longer texts are no mistyped names, and the comparison is quadratic.
constexpr std::size_t kLongestName = 256;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(before_last, last);
        std::swap(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
    }
    return row[b.size()];
}

std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates) {
    if (name.size() > kLongestName) return std::nullopt;
    const auto wanted = lower(name);
    std::optional<std::string_view> best;
    std::size_t best_distance = 0;
    for (const auto candidate : candidates) {
        if (candidate.size() > kLongestName) continue;
        const auto found = edit_distance(wanted, lower(candidate));
        const auto tolerated = std::max<std::size_t>(1, candidate.size() / 3);
        if (found > tolerated || (best && found >= best_distance)) continue;
        best = candidate;
        best_distance = found;
    }
    return best;
}

}  // namespace ballast
