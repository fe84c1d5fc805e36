#pragma once
// Measured rates of this machine: what no system tells.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/core/result.hpp"

namespace ballast::machine {

/// How fast this machine copies memory: the best of a few copies of 256 MiB between buffers that
/// were touched before, in 10^9 bytes per second. Takes about a second and half a GiB. Fails with
/// `out_of_memory`.
Result<double> probe_memory_copy(const Clock& clock);

struct DiskRate {
    std::filesystem::path file;
    double gbps = 0;        ///< of positioned reads of 4 MiB
    double latency_us = 0;  ///< of single reads of 4 KiB
    bool is_cold = false;   ///< whether the system dropped the file from its cache before
};

/// How fast the disk delivers the largest file (of at least 1 MiB) below the folders, at most
/// 512 MiB of it, after asking the system to drop it from its cache. Nothing where there is no such
/// file. Fails with `io`.
Result<std::optional<DiskRate>> probe_disk(const std::vector<std::filesystem::path>& folders,
                                           const Clock& clock);

}  // namespace ballast::machine
