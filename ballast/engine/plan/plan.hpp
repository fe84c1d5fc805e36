#pragma once
// The value that says where every block of a model lives.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ballast/engine/core/device_id.hpp"
#include "ballast/engine/plan/block_table.hpp"
#include "ballast/engine/plan/placement.hpp"

namespace ballast::plan {

/// How long a step should take, in nanoseconds.
struct ExpectedStep {
    std::uint64_t step_ns = 0;
    std::uint64_t bound_ns = 0;  ///< the longer of arithmetic and the busiest link
    bool operator==(const ExpectedStep&) const = default;
};

/// Block -> home, with the sums that reports need. Equal inputs give an equal plan.
struct Plan {
    DeviceId compute{};
    std::vector<DeviceId> homes{};           ///< one per block, in model order
    std::map<DeviceId, Bytes> per_device{};  ///< of the blocks at home there, as stored
    bool fits = true;
    std::map<DeviceId, Shortfall> shortfall{};

    Mode mode = Mode::automatic;
    std::vector<Pinned> pinned{};  ///< one per block; empty: none
    std::map<DeviceId, Bytes> quotas{};
    Bytes ring{};  ///< on the compute device, for blocks on their way
    /// Homes whose memory the compute device uses where it is, since both are one pool.
    std::set<DeviceId> read_in_place{};
    Bytes activations{};                     ///< on the compute device
    Bytes moved{};                           ///< bytes that travel in each step
    std::optional<ExpectedStep> expected{};  ///< empty where FLOPs or rates are unknown
    std::vector<std::string> warnings{};
    std::vector<std::string> explanation{};

    bool operator==(const Plan&) const = default;
};

/// Everything resident on `compute`. `available` is what that device may still hold; without it the
/// plan always fits.
Plan resident_plan(const BlockTable& table, DeviceId compute, std::optional<Bytes> available);

/// 16 hexadecimal digits over the block table (names, types, shapes, sizes) and the homes: the
/// same on every machine, so that two reports can be compared.
std::string digest(const BlockTable& table, const Plan& plan);

}  // namespace ballast::plan
