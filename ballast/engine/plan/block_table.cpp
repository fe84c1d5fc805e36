#include "ballast/engine/plan/block_table.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace ballast::plan {
namespace {

std::string_view prefix_of(std::string_view name) {
    const auto dot = name.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
}

/// All proper prefixes below which some deeper tensor lies: they cannot be leaves.
std::unordered_set<std::string_view> inner_prefixes(const std::vector<BlockTensor>& tensors) {
    std::unordered_set<std::string_view> inner;
    for (const auto& tensor : tensors) {
        auto prefix = prefix_of(prefix_of(tensor.name));
        // once a prefix is known, all above it are, too
        while (!prefix.empty() && inner.insert(prefix).second) prefix = prefix_of(prefix);
    }
    return inner;
}

}  // namespace

BlockTable::BlockTable(std::vector<Block> blocks) : blocks_(std::move(blocks)) {
    by_name_.resize(blocks_.size());
    std::iota(by_name_.begin(), by_name_.end(), 0U);
    std::sort(by_name_.begin(), by_name_.end(),
              [this](auto a, auto b) { return blocks_[a].name < blocks_[b].name; });
    for (const auto& block : blocks_) bytes_ += block.bytes;
}

std::optional<BlockId> BlockTable::find(std::string_view name) const {
    const auto found =
        std::lower_bound(by_name_.begin(), by_name_.end(), name,
                         [this](auto index, auto wanted) { return blocks_[index].name < wanted; });
    if (found == by_name_.end() || blocks_[*found].name != name) return std::nullopt;
    return BlockId{*found};
}

BlockTable group_into_blocks(const std::vector<BlockTensor>& tensors) {
    const auto inner = inner_prefixes(tensors);
    std::vector<Block> blocks;
    Block loose{.name = std::string(kLooseBlock)};
    std::unordered_map<std::string, std::size_t> index;
    for (const auto& tensor : tensors) {
        const auto prefix = prefix_of(tensor.name);
        Block* block = &loose;
        if (!prefix.empty() && !inner.contains(prefix)) {
            const auto [place, is_new] = index.try_emplace(std::string(prefix), blocks.size());
            if (is_new) blocks.push_back({.name = std::string(prefix)});
            block = &blocks[place->second];
        }
        block->bytes += tensor.bytes;
        block->tensors.push_back(tensor);  // copied: `inner` views the names
    }
    if (!loose.tensors.empty()) blocks.push_back(std::move(loose));
    return BlockTable(std::move(blocks));
}

}  // namespace ballast::plan
