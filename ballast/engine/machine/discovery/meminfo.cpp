#include "ballast/engine/machine/discovery/meminfo.hpp"

#include <array>

#include "ballast/engine/machine/discovery/system_files.hpp"

namespace ballast::machine {
namespace {

enum Field {
    mem_total,
    mem_free,
    mem_available,
    cached,
    shmem,
    active_file,
    inactive_file,
    slab_reclaimable,
    swap_total,
    swap_free,
    huge_page_size,
    huge_pages_free,  // a number of pages, the only one that is no amount
    field_count
};

constexpr std::array<std::string_view, field_count> kNames{
    "MemTotal",       "MemFree",      "MemAvailable", "Cached",   "Shmem",        "Active(file)",
    "Inactive(file)", "SReclaimable", "SwapTotal",    "SwapFree", "Hugepagesize", "HugePages_Free"};

using Fields = std::array<std::optional<std::uint64_t>, field_count>;

/// "  123 kB" -> 123. Nothing with another unit.
std::optional<std::uint64_t> number_of(std::string_view value) {
    value = trimmed(value);
    const auto blank = value.find_first_of(" \t");
    if (blank == std::string_view::npos) return parse_count(value);
    const auto unit = trimmed(value.substr(blank));
    if (unit != "kB" && unit != "KB" && unit != "kb") return std::nullopt;
    return parse_count(value.substr(0, blank));
}

Fields fields_of(std::string_view text) {
    Fields fields;
    while (!text.empty()) {
        const auto line = next_line(text);
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto name = trimmed(line.substr(0, colon));
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (kNames[i] == name && !fields[i]) fields[i] = number_of(line.substr(colon + 1));
    }
    return fields;
}

std::optional<Bytes> amount(const Fields& fields, Field field) {
    const auto& value = fields[field];
    return value ? std::optional(Bytes{*value}.times(1024)) : std::nullopt;
}

std::optional<Bytes> estimated_available(const Fields& fields) {
    const auto free = amount(fields, mem_free);
    if (!free) return std::nullopt;
    const auto slab = amount(fields, slab_reclaimable).value_or(Bytes{});
    const auto active = amount(fields, active_file);
    const auto inactive = amount(fields, inactive_file);
    if (active && inactive) return *free + *active + *inactive + slab;
    const auto cache = amount(fields, cached).value_or(Bytes{});
    return *free + cache.minus_or_zero(amount(fields, shmem).value_or(Bytes{})) + slab;
}

}  // namespace

HostProfile parse_meminfo(std::string_view text) {
    const auto fields = fields_of(text);
    HostProfile host;
    host.total = amount(fields, mem_total);
    host.available = amount(fields, mem_available);
    if (!host.available) host.available = estimated_available(fields);
    host.free = amount(fields, mem_free);
    host.cached = amount(fields, cached);
    host.shmem = amount(fields, shmem);
    host.swap_total = amount(fields, swap_total);
    host.swap_free = amount(fields, swap_free);
    const auto page = amount(fields, huge_page_size);
    const auto pages = fields[huge_pages_free];
    if (page && pages) host.huge_pages_free = page->times(*pages);
    return host;
}

}  // namespace ballast::machine
