#include "ballast/engine/machine/discovery/storage.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>

#include "ballast/engine/machine/discovery/system_files.hpp"

namespace ballast::machine {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLayers = 8;  // of mapped devices

// linux/magic.h, and the sources of those that are not in it
constexpr std::array<std::uint64_t, 2> kMemory{0x01021994 /* tmpfs */, 0x858458F6 /* ramfs */};
constexpr std::array<std::uint64_t, 11> kNetwork{0x6969 /* nfs */,
                                                 0x517B /* smb */,
                                                 0xFF534D42 /* cifs */,
                                                 0xFE534D42 /* smb2 */,
                                                 0x00C36400 /* ceph */,
                                                 0x0BD00BD0 /* lustre */,
                                                 0x01021997 /* 9p */,
                                                 0x47504653 /* gpfs */,
                                                 0x5346414F /* afs */,
                                                 0x73757245 /* coda */,
                                                 0x19830326 /* beegfs */};

/// The first entry by name, so that the answer does not depend on the order of the folder.
fs::path first_in(const fs::path& folder) {
    fs::path first;
    std::error_code fault;
    for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end;
         entry.increment(fault))
        if (first.empty() || entry->path() < first) first = entry->path();
    return first;
}

std::string kind_of_disk(const fs::path& disk) {
    const auto name = disk.filename().string();
    if (name.starts_with("nvme")) return "nvme";
    const auto rotational = count_in(disk / "queue" / "rotational");
    if (rotational == 0) return "ssd";
    const bool is_virtual = name.starts_with("vd") || name.starts_with("xvd");
    return rotational == 1 && !is_virtual ? "hdd" : "";
}

std::string kind_of(const fs::path& device, int layers_left) {
    std::error_code fault;
    auto disk = fs::canonical(device, fault);
    if (fault) return {};
    if (!fs::exists(disk / "queue", fault)) disk = disk.parent_path();
    const auto below = first_in(disk / "slaves");
    if (below.empty()) return kind_of_disk(disk);
    return layers_left > 0 ? kind_of(below, layers_left - 1) : "";
}

}  // namespace

std::string file_system_kind(std::uint64_t type) {
    if (std::ranges::find(kMemory, type) != kMemory.end()) return "memory";
    if (std::ranges::find(kNetwork, type) != kNetwork.end()) return "network";
    return {};
}

std::string block_device_kind(const fs::path& sys, unsigned major, unsigned minor) {
    return kind_of(sys / "dev" / "block" / fmt::format("{}:{}", major, minor), kMostLayers);
}

std::string storage_kind(const fs::path& path, const fs::path& sys) {
    struct statfs system{};
    struct stat file{};
    if (::statfs(path.c_str(), &system) != 0 || ::stat(path.c_str(), &file) != 0) return {};
    // 32 bits, which some architectures extend with their sign
    auto kind = file_system_kind(static_cast<std::uint32_t>(system.f_type));
    if (!kind.empty()) return kind;
    return block_device_kind(sys, major(file.st_dev), minor(file.st_dev));
}

}  // namespace ballast::machine
