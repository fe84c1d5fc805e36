#pragma once
// What kind of storage a path lies on.

#include <cstdint>
#include <filesystem>
#include <string>

namespace ballast::machine {

/// "nvme", "ssd", "hdd", "memory" or "network"; empty where it cannot be told: paths that do not
/// exist, overlays, file systems that span several disks, and virtual disks that do not claim to
/// be fast (they say "rotating" by default, whatever lies beneath).
std::string storage_kind(const std::filesystem::path& path, const std::filesystem::path& sys);

/// "memory" or "network" from the number that statfs calls f_type; empty for all others.
std::string file_system_kind(std::uint64_t type);

/// The kind of the block device, from <sys>/dev/block. A partition is what its disk is, a mapped
/// device (encrypted, logical volume) what the first device below it is.
std::string block_device_kind(const std::filesystem::path& sys, unsigned major, unsigned minor);

}  // namespace ballast::machine
