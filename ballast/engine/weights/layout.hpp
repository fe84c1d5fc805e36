#pragma once
// Where every tensor of a model stands in the memory of its home, without a lost byte.
//
// The blocks of one device stand in segments, each an allocation of its own, in model order: so the
// end of a model can leave a device while its beginning stays. Which blocks share a segment depends
// on nothing that comes after them; a plan that only moves the end of a model keeps the segments
// before it.
//
// A block's tensors stand together, so that a block moves in one piece, each aligned to its
// element. Within a segment, blocks whose size cache lines divide come first, then the others by
// how evenly their sizes divide. The rare block whose own size its elements do not divide is laid
// out tensor by tensor.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "ballast/engine/plan/block_table.hpp"
#include "ballast/engine/plan/plan.hpp"

namespace ballast::weights {

/// A part of a block that stands in one piece.
struct Piece {
    std::size_t at = 0;      ///< in its segment
    std::size_t within = 0;  ///< in the block
    std::size_t size = 0;

    bool operator==(const Piece&) const = default;
};

struct BlockLayout {
    std::vector<std::size_t> tensors{};  ///< where each stands within the block
    std::vector<Piece> pieces{};         ///< one, or one for each tensor; none on disk
    std::size_t size = 0;
    std::size_t segment = 0;  ///< index; means nothing on disk

    /// Where the block's `tensor`-th tensor stands in its segment.
    [[nodiscard]] std::size_t place(std::size_t tensor) const;
};

/// Blocks of one device that are allocated and released together.
struct Segment {
    DeviceId device{};
    std::vector<std::uint32_t> blocks{};  ///< indices, ascending
    std::size_t size = 0;

    bool operator==(const Segment&) const = default;
};

struct Layout {
    std::vector<BlockLayout> blocks{};
    std::vector<Segment> segments{};         ///< of each device in model order; the disk has none
    std::map<DeviceId, Bytes> per_device{};  ///< of blocks, with those that stay on disk
};

/// Below this, cutting a model up would only cost allocations: their sizes are rounded up.
inline constexpr Bytes kLeastSegment{std::uint64_t{32} << 20U};

/// `homes` has one device for each block. A segment is full when it holds a 32nd of the model, and
/// no less than `least_segment`.
Layout lay_out(const plan::BlockTable& table, const std::vector<DeviceId>& homes,
               Bytes least_segment = kLeastSegment);

}  // namespace ballast::weights
