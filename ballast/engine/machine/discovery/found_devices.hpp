#pragma once
// What asking one kind of driver gives, and which libraries are asked.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ballast/engine/machine/profile.hpp"

namespace ballast::machine {

/// Names of the drivers' libraries, per kind, in the order in which they are tried.
struct DriverLibraries {
    std::vector<std::string> cuda{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
    std::vector<std::string> nvml{"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
    std::vector<std::string> hip{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                 "libamdhip64.so"};
    std::vector<std::string> level_zero{"libze_loader.so.1"};
    std::vector<std::string> ascend{"libascendcl.so"};
    std::vector<std::string> cambricon{"libcndrv.so"};
    std::vector<std::string> corex{"libixml.so", "/usr/local/corex/lib64/libixml.so",
                                   "/usr/local/corex/lib/libixml.so"};
    /// Files that must all exist; they are not opened.
    std::vector<std::string> directml{"/usr/lib/wsl/lib/libdxcore.so",
                                      "/usr/lib/wsl/lib/libdirectml.so"};
};

struct FoundDevices {
    std::vector<DeviceProfile> devices{};
    std::vector<std::string> warnings{};
    std::string source{};  ///< what was asked; empty if it is not there
};

/// More devices than any machine has; what a driver says beyond it is not believed.
inline constexpr int kMostDevices = 128;

/// How many devices to ask for when a driver speaks of `count`.
template <typename Count>
int believable_count(Count count) {
    if (std::cmp_less(count, 0)) return 0;
    return std::cmp_less(count, kMostDevices) ? static_cast<int>(count) : kMostDevices;
}

/// A driver's amount of memory. Zero and what only a negative number can look like are no answers.
inline std::optional<Bytes> believable_bytes(std::uint64_t count) {
    if (count == 0 || count >= std::uint64_t{1} << 62U) return std::nullopt;
    return Bytes{count};
}

/// A driver's text: up to its end or the buffer's, trimmed, safe to print.
std::string driver_text(std::span<const char> buffer);

/// In the usual groups: 00112233-4455-6677-8899-aabbccddeeff.
std::string uuid_text(std::span<const unsigned char, 16> bytes);

}  // namespace ballast::machine
