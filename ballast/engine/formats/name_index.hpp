#pragma once
// Finds things by name in logarithmic time.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace ballast::formats {

/// Indices of `count` things, sorted by the hash of their names and, where hashes are equal, by the
/// names: names of weights share long beginnings, so comparing them alone is slow, and a table of
/// hashes alone would be at the mercy of a file with colliding names. It holds no names: each call
/// takes `name_of(index)`, which must say the same as at construction.
class NameIndex {
public:
    NameIndex() = default;

    template <typename NameOf>
    NameIndex(std::size_t count, const NameOf& name_of) {
        slots_.reserve(count);
        for (std::uint32_t i = 0; i < count; ++i) slots_.push_back({hash(name_of(i)), i});
        std::sort(slots_.begin(), slots_.end(), [&](const Slot& a, const Slot& b) {
            return a.hash != b.hash ? a.hash < b.hash : name_of(a.index) < name_of(b.index);
        });
    }

    template <typename NameOf>
    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name,
                                                    const NameOf& name_of) const {
        const auto wanted = hash(name);
        const auto found = std::partition_point(slots_.begin(), slots_.end(), [&](const Slot& s) {
            return s.hash != wanted ? s.hash < wanted : name_of(s.index) < name;
        });
        if (found == slots_.end() || found->hash != wanted || name_of(found->index) != name)
            return std::nullopt;
        return found->index;
    }

    /// One of the things whose name another one has, too.
    template <typename NameOf>
    [[nodiscard]] std::optional<std::uint32_t> find_repeated(const NameOf& name_of) const {
        const auto twice =
            std::adjacent_find(slots_.begin(), slots_.end(), [&](const Slot& a, const Slot& b) {
                return a.hash == b.hash && name_of(a.index) == name_of(b.index);
            });
        if (twice == slots_.end()) return std::nullopt;
        return twice->index;
    }

private:
    struct Slot {
        std::size_t hash;
        std::uint32_t index;
    };

    static std::size_t hash(std::string_view name) { return std::hash<std::string_view>{}(name); }

    std::vector<Slot> slots_;
};

}  // namespace ballast::formats
