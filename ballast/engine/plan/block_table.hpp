#pragma once
// A model as the planner sees it: blocks in model order, with their bytes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/element_type.hpp"

namespace ballast::plan {

/// One stored tensor of a block. `name` is the tensor's name inside its model, without the prefix
/// that a checkpoint puts before it; `offset` is its place in the model's file.
struct BlockTensor {
    std::string name{};
    ElementType type = ElementType::f32;
    std::vector<std::int64_t> shape{};
    std::uint64_t offset = 0;
    Bytes bytes{};

    bool operator==(const BlockTensor&) const = default;
};

/// Index of a block in its table; stable for the life of the table.
struct BlockId {
    std::uint32_t index = 0;
    auto operator<=>(const BlockId&) const = default;
};

/// Smallest unit that is placed and moved: one leaf layer with its own parameters. Never split.
struct Block {
    std::string
        name{};     ///< module path, e.g. "input_blocks.1.0.in_layers.2"; "<loose>" for the rest
    Bytes bytes{};  ///< of its tensors, as stored
    std::vector<BlockTensor> tensors{};

    bool operator==(const Block&) const = default;
};

/// Name of the pseudo-block of parameters that belong to no leaf layer.
inline constexpr std::string_view kLooseBlock = "<loose>";

/// A model's blocks in model order. A value: equal tables compare equal.
class BlockTable {
public:
    BlockTable() = default;
    explicit BlockTable(std::vector<Block> blocks);

    [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
    [[nodiscard]] const Block& operator[](BlockId id) const { return blocks_[id.index]; }
    [[nodiscard]] std::optional<BlockId> find(std::string_view name) const;
    /// The sum over all blocks.
    [[nodiscard]] Bytes bytes() const { return bytes_; }

    bool operator==(const BlockTable& other) const { return blocks_ == other.blocks_; }

private:
    std::vector<Block> blocks_;
    std::vector<std::uint32_t> by_name_;
    Bytes bytes_;
};

/// Groups tensors, given in model order, into blocks: a leaf is a prefix (the name up to its last
/// dot) below which no deeper tensor lies; tensors of no leaf form the loose block, which comes
/// last. The order of blocks is that of their first tensors.
BlockTable group_into_blocks(const std::vector<BlockTensor>& tensors_in_model_order);

}  // namespace ballast::plan
