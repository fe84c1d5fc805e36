#pragma once
// Where every tensor of a model stands in the memory of its home: one region per device, without a
// lost byte.
//
// A block's tensors stand together, so that a block moves in one piece, each aligned to its
// element. Blocks whose size cache lines divide come first, then the others by how evenly their
// sizes divide. The rare block whose own size its elements do not divide is laid out tensor by
// tensor.

#include <cstddef>
#include <map>
#include <vector>

#include "ballast/engine/plan/block_table.hpp"
#include "ballast/engine/plan/plan.hpp"

namespace ballast::weights {

/// A part of a block that stands in one piece.
struct Piece {
    std::size_t at = 0;      ///< in the region of its home
    std::size_t within = 0;  ///< in the block
    std::size_t size = 0;

    bool operator==(const Piece&) const = default;
};

struct BlockLayout {
    std::vector<std::size_t> tensors{};  ///< where each stands within the block
    std::vector<Piece> pieces{};         ///< one, or one for each tensor; none on disk
    std::size_t size = 0;

    /// Where the block's `tensor`-th tensor stands in its home's region.
    [[nodiscard]] std::size_t place(std::size_t tensor) const;
};

struct Layout {
    std::vector<BlockLayout> blocks{};
    std::map<DeviceId, std::size_t> regions{};  ///< sizes; the disk has none
    std::map<DeviceId, Bytes> per_device{};     ///< of blocks, with those that stay on disk
};

/// `homes` has one device for each block.
Layout lay_out(const plan::BlockTable& table, const std::vector<DeviceId>& homes);

}  // namespace ballast::weights
