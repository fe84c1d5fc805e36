#pragma once
// The value that says where every block of a model lives.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/core/device_id.hpp"
#include "ballast/engine/plan/block_table.hpp"

namespace ballast::plan {

/// Block -> home, with the sums that reports need. Equal inputs give an equal plan.
struct Plan {
    DeviceId compute;
    std::vector<DeviceId> homes;           ///< one per block, in model order
    std::map<DeviceId, Bytes> per_device;  ///< of the blocks at home there, as stored
    bool fits = true;
    std::map<DeviceId, Shortfall> shortfall;

    bool operator==(const Plan&) const = default;
};

/// Everything resident on `compute`. `available` is what that device may still hold; without it the
/// plan always fits.
Plan resident_plan(const BlockTable& table, DeviceId compute, std::optional<Bytes> available);

/// 16 hexadecimal digits over the block table (names, types, shapes, sizes) and the homes: the
/// same on every machine, so that two reports can be compared.
std::string digest(const BlockTable& table, const Plan& plan);

}  // namespace ballast::plan
