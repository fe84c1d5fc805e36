#pragma once
// Placement as ComfyUI-MultiGPU 2.6.3 does it, for users who tuned their texts on it: amounts
// become fractions of four decimals, devices are taken in the order of their names, blocks from the
// model's tail, and what fits nowhere goes to the compute device, whatever its quota.
//
// Its texts are read as it reads them, too: one mode for the whole text by the letters in it,
// numbers by their beginning. Arithmetic is in integers here; the original's floating point differs
// where a fraction lies exactly between two texts.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/plan/placement.hpp"

namespace ballast::plan {

struct Distorch2Request {
    std::vector<PlacementBlock> blocks{};  ///< in model order
    ModelRole role = ModelRole::network;
    std::string text{};           ///< the full form: expert#compute;GiB;donors
    AllocationContext machine{};  ///< totals must be known
    /// Bytes of all weights and biases, which the original takes for the model's size when it frees
    /// virtual memory; without it the sum of the blocks.
    std::optional<Bytes> counted_bytes{};
};

struct Distorch2Placement {
    std::string fractions{};  ///< "cuda:0,0.1042;cuda:1,0.1250;cpu,0.0703", as the original prints
    DeviceId compute{};
    std::vector<DeviceId> homes{};           ///< one per block
    std::vector<bool> orphans{};             ///< one per block: it fitted nowhere
    std::map<DeviceId, Bytes> per_device{};  ///< of devices with a block
    std::map<DeviceId, Bytes> quotas{};

    bool operator==(const Distorch2Placement&) const = default;
};

/// Fails with `Code::usage` where the original raises: unreadable numbers, a rest marker outside
/// bytes, shares of nothing, devices that are not there; and where a device's memory is unknown.
Result<Distorch2Placement> place_like_distorch2(const Distorch2Request& request);

/// The text of fractions that the original makes of `request.text`, with every present device.
struct Distorch2Fractions {
    DeviceId compute{};
    std::vector<std::pair<DeviceId, std::string>> parts{};  ///< in the order of the text
};
Result<Distorch2Fractions> distorch2_fractions(const Distorch2Request& request);

}  // namespace ballast::plan
