#pragma once
// Processors and caches, for the report of the machine. (Memory is not counted here: what was added
// to a running system belongs to no node. Its amounts come from /proc/meminfo.)

#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/result.hpp"

namespace ballast::machine {

struct Topology {
    int cores = 0;
    int threads = 0;
    int numa_nodes = 0;
    std::vector<Bytes> l3_caches{};

    bool operator==(const Topology&) const = default;
};

/// Of this machine, as far as this process may use it, or of the one that `synthetic` describes in
/// hwloc's words ("node:2 l3:1 core:4 pu:2"). Takes tens of milliseconds. Fails with `bad_value` (a
/// description that hwloc does not understand) or `io`.
Result<Topology> topology(const std::optional<std::string>& synthetic = std::nullopt);

}  // namespace ballast::machine
