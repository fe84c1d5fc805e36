#pragma once
// Which device each block of a model lives on, by what the user asked for. Integers only: equal
// requests give equal placements on every machine.
//
// Some blocks stay on the compute device in any case; the others are given out from the model's
// head to its tail. Ceilings (bytes, fractions, percentages beside a rest marker, virtual memory)
// are never exceeded: a block goes to the first device, in typed order, that has room, else to the
// remainder's device. Shares cut the model into contiguous pieces, at the block whose middle lies
// nearest.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/plan/allocation.hpp"

namespace ballast::plan {

/// A block as placement sees it.
struct PlacementBlock {
    std::string name{};
    Bytes bytes{};
    bool is_fetchable = true;  ///< its layer can take its weights from another device
    bool is_loose = false;     ///< the pseudo-block of parameters of no layer

    bool operator==(const PlacementBlock&) const = default;
};

/// Text encoders look rows of their embeddings up where they compute.
enum class ModelRole { network, text_encoder };

struct PlacementRequest {
    std::vector<PlacementBlock> blocks{};  ///< in model order
    ModelRole role = ModelRole::network;
    Policy policy{};
    std::vector<PresentDevice> devices{};  ///< for fractions, donors' room and warnings
};

/// Why a block is on the compute device whatever the quotas say.
enum class Pinned { no, tiny, not_fetchable, head, loose };

/// "", "tiny", "not fetchable", "head", "loose".
std::string_view to_string(Pinned pinned);

/// Which of these holds for each block; the last one in the order of the enumeration wins. Tiny are
/// blocks below 0.01 % of the model.
std::vector<Pinned> pinned_blocks(const std::vector<PlacementBlock>& blocks, ModelRole role);

/// Whether that name is one of an embedding: it has embed, wte or wpe in it, in any case.
bool is_head_name(std::string_view name);

struct Placement {
    std::vector<DeviceId> homes{};           ///< one per block
    std::vector<Pinned> pinned{};            ///< one per block
    std::map<DeviceId, Bytes> per_device{};  ///< of devices with a block
    /// What the blocks that are not pinned may take: on the compute device, what pinned ones left.
    /// The share of a device, in mode ratio without a rest marker. Not for the remainder's device,
    /// unless it was given an amount that it may exceed.
    std::map<DeviceId, Bytes> quotas{};
    std::optional<DeviceId> remainder{};
    Bytes left_over{};  ///< given to the remainder's device because no quota had room
    std::vector<std::string> warnings{};

    bool operator==(const Placement&) const = default;
};

/// Places every block. Always succeeds for a policy that `parse_allocation` made for the same
/// devices; whether the bytes fit the devices now is another question. Mode automatic puts
/// everything on the compute device.
Placement place(const PlacementRequest& request);

}  // namespace ballast::plan
