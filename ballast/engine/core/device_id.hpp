#pragma once
// The name of a place that stores bytes: cpu, cuda:0, cuda:1, xpu:0, mps, disk.

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace ballast {

/// ROCm devices are called cuda, as in every framework that users know.
enum class DeviceKind { cpu, cuda, xpu, mps, npu, mlu, directml, corex, privateuseone, disk };

/// A device by kind and index; a plain comparable value. Kinds that exist once (cpu, mps, disk)
/// have index 0 and print without it.
struct DeviceId {
    DeviceKind kind = DeviceKind::cpu;
    int index = 0;

    auto operator<=>(const DeviceId&) const = default;
};

inline constexpr DeviceId kCpu{};
/// The files themselves: stores only.
inline constexpr DeviceId kDisk{DeviceKind::disk, 0};

std::string to_string(DeviceId device);

/// "cuda:1" -> {cuda, 1}; "cuda" means "cuda:0". Nothing if the text names no device.
std::optional<DeviceId> parse_device(std::string_view text);

}  // namespace ballast
