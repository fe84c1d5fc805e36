#include "ballast/engine/residency/memory_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ballast/engine/plan/rounded.hpp"

namespace ballast::residency {
namespace {

using plan::WideBytes;

constexpr WideBytes kGiB = WideBytes{1} << 30U;
constexpr WideBytes kMiB = WideBytes{1} << 20U;

std::string gib(Bytes bytes) { return plan::rounded(bytes.count(), kGiB, 2); }

/// A reading with the name that it is printed and sorted by.
using Named = std::pair<std::string, DeviceReading>;

/// cpu first, then by text.
std::vector<Named> in_order(const std::vector<DeviceReading>& readings) {
    std::vector<Named> named;
    named.reserve(readings.size());
    for (const auto& reading : readings) named.emplace_back(to_string(reading.device), reading);
    std::ranges::stable_sort(named, {}, [](const Named& entry) {
        return std::pair<bool, std::string_view>(entry.second.device != kCpu, entry.first);
    });
    return named;
}

std::string mib_difference(Bytes before, Bytes after) {
    const auto digits = [](Bytes less, Bytes more) {
        return plan::rounded(more.minus_or_zero(less).count(), kMiB, 2);
    };
    return after < before ? "-" + digits(after, before) : digits(before, after);
}

}  // namespace

std::string snapshot_line(UtcTime time, std::string_view identifier, std::string_view tag,
                          const std::vector<DeviceReading>& readings) {
    auto line = fmt::format("{} {:<35}", utc_text(time, SecondDigits::milliseconds),
                            fmt::format("{}_{}", identifier, tag));
    for (const auto& [name, reading] : in_order(readings))
        line += fmt::format(" {}|{}", name, gib(reading.used));
    return line;
}

std::string load_line(std::string_view tag, const std::vector<DeviceReading>& readings) {
    auto line = fmt::format("tag={}", tag);
    for (const auto& [name, reading] : in_order(readings))
        if (!reading.total.is_zero())
            line += fmt::format("|{}={}/{}", name, gib(reading.used), gib(reading.total));
    return line;
}

std::string manager_parity_line(const Cleanup& cleanup) {
    return fmt::format(
        "[ManagerMatch] Cleanup requested (reason={}) | models {}->{}, cpu_delta_mb={}",
        cleanup.reason, cleanup.models_before, cleanup.models_after,
        mib_difference(cleanup.cpu_before, cleanup.cpu_after));
}

std::string load_request_line(DeviceId device, Bytes missing, Bytes inference) {
    const auto requested_tenths =
        WideBytes{missing.count()} * 11 + WideBytes{inference.count()} * 10;
    return fmt::format(
        "[FREE_MEMORY_CALL] Device {}: requesting {}GB = {}GB * 1.1 + {}GB inference",
        to_string(device), plan::rounded(requested_tenths, kGiB * 10, 2), gib(missing),
        gib(inference));
}

std::string minimum_check_line(DeviceId device, Bytes free, Bytes required) {
    return fmt::format("[MIN_MEMORY_CHECK] Device {}: free={}GB, required={}GB, will_evict={}",
                       to_string(device), gib(free), gib(required),
                       free < required ? "True" : "False");
}

std::string eviction_line(DeviceId device, std::size_t models) {
    return fmt::format("[EVICTION] Device {}: unloaded {} models due to insufficient memory",
                       to_string(device), models);
}

}  // namespace ballast::residency
