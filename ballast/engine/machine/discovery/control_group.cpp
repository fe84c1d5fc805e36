#include "ballast/engine/machine/discovery/control_group.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/machine/discovery/system_files.hpp"

namespace ballast::machine {
namespace {

namespace fs = std::filesystem;

// version 1 says "none" as the largest multiple of the page size, so all in that region mean it
constexpr std::uint64_t kNone = std::uint64_t{1} << 62U;
constexpr std::size_t kLongestPath = 4096;

/// How a version of control groups calls things.
struct Names {
    const char* limit;
    const char* usage;
    std::string_view droppable;  ///< a line of memory.stat
};
constexpr Names kVersion2{"memory.max", "memory.current", "inactive_file"};
constexpr Names kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};

/// The own group in each hierarchy that can limit memory.
struct Membership {
    std::string version2;
    std::string version1;
};

bool has_controller(std::string_view list, std::string_view wanted) {
    for (;;) {
        const auto comma = list.find(',');
        if (list.substr(0, comma) == wanted) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
}

/// From lines of "number:controllers:path"; version 2 lists no controllers.
Membership membership_of(std::string_view text) {
    Membership own;
    while (!text.empty()) {
        const auto line = next_line(text);
        const auto first = line.find(':');
        if (first == std::string_view::npos) continue;
        const auto second = line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        const auto path = line.substr(second + 1);
        if (path.size() > kLongestPath) continue;
        if (controllers.empty()) own.version2 = path;
        if (has_controller(controllers, "memory")) own.version1 = path;
    }
    return own;
}

/// The folder of `own` below `root`, then its parents, `root` last.
std::vector<fs::path> groups_upwards(const fs::path& root, const fs::path& own) {
    std::vector<fs::path> groups{root};
    for (const auto& part : own) {
        if (part.empty() || part == "/" || part == ".") continue;
        if (part != "..")
            groups.push_back(groups.back() / part);
        else if (groups.size() > 1)
            groups.pop_back();
    }
    std::ranges::reverse(groups);
    return groups;
}

std::optional<Bytes> usage_in(const fs::path& group, const Names& names) {
    const auto usage = bytes_in(group / names.usage);
    if (!usage) return std::nullopt;
    const auto text = small_file(group / "memory.stat");
    const auto droppable = text ? count_after(*text, names.droppable) : std::nullopt;
    return usage->minus_or_zero(Bytes{droppable.value_or(0)});
}

/// Keeps in `tightest` the smallest limit; of equal ones the outermost, whose use is the greatest.
void look_in(const std::vector<fs::path>& groups, const Names& names,
             std::optional<ControlGroupLimit>& tightest) {
    for (const auto& group : groups) {
        // "max" and negative numbers are no counts
        const auto limit = count_in(group / names.limit);
        if (!limit || *limit >= kNone) continue;
        if (tightest && tightest->limit < Bytes{*limit}) continue;
        tightest = {.limit = Bytes{*limit}, .used = usage_in(group, names), .group = group};
    }
}

}  // namespace

std::optional<ControlGroupLimit> control_group_limit(const fs::path& proc, const fs::path& sys,
                                                     std::optional<Bytes> total) {
    const auto own = membership_of(small_file(proc / "self" / "cgroup").value_or(""));
    const auto mount = sys / "fs" / "cgroup";
    std::optional<ControlGroupLimit> tightest;
    look_in(groups_upwards(mount, own.version2), kVersion2, tightest);
    look_in(groups_upwards(mount / "unified", own.version2), kVersion2, tightest);
    look_in(groups_upwards(mount / "memory", own.version1), kVersion1, tightest);
    if (tightest && total && tightest->limit >= *total) return std::nullopt;
    return tightest;
}

}  // namespace ballast::machine
