#include "ballast/engine/machine/profile.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ballast::machine {
namespace {

constexpr std::array<std::pair<System, std::string_view>, 4> kSystems{{
    {System::gnu_linux, "linux"},
    {System::wsl2, "wsl2"},
    {System::windows, "windows"},
    {System::macos, "macos"},
}};

/// MemAvailable, or its stand-in of kernels that do not have the line.
std::optional<Bytes> available_without_swapping(const HostProfile& host) {
    if (host.available) return host.available;
    if (!host.free) return std::nullopt;
    return *host.free + host.cached.value_or(Bytes{}).minus_or_zero(host.shmem.value_or(Bytes{}));
}

}  // namespace

std::string_view to_string(System system) {
    for (const auto& [value, name] : kSystems)
        if (value == system) return name;
    return "";
}

std::optional<System> parse_system(std::string_view text) {
    for (const auto& [value, name] : kSystems)
        if (name == text) return value;
    if (text == "wsl") return System::wsl2;
    if (text == "darwin") return System::macos;
    return std::nullopt;
}

bool is_under_windows(System system) { return system == System::windows || system == System::wsl2; }

std::string_view to_string(Query query) {
    switch (query) {
        case Query::attributes: return "attributes";
        case Query::free: return "free";
        case Query::total: return "total";
        case Query::name: return "name";
    }
    return "";
}

bool DeviceProfile::fails(Query query) const {
    return std::ranges::find(query_fails, query) != query_fails.end();
}

const DeviceProfile* find_device(const MachineProfile& profile, DeviceId id) {
    const auto found = std::ranges::find(profile.devices, id, &DeviceProfile::id);
    return found == profile.devices.end() ? nullptr : &*found;
}

std::optional<Bytes> host_available(const HostProfile& host) {
    auto available = available_without_swapping(host);
    if (available && host.total) available = std::min(*available, *host.total);
    if (!host.limit) return available;
    const auto left = host.limit->minus_or_zero(host.limit_used.value_or(Bytes{}));
    return available ? std::min(*available, left) : left;
}

std::optional<Bytes> host_total(const HostProfile& host) {
    if (!host.limit) return host.total;
    return host.total ? std::min(*host.total, *host.limit) : *host.limit;
}

}  // namespace ballast::machine
