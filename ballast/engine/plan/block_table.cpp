#include "ballast/engine/plan/block_table.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

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

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The digit run that starts `text`, without leading zeros, and its whole length.
std::pair<std::string_view, std::size_t> digit_run(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && is_digit(text[length])) ++length;
    auto digits = text.substr(0, length);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    return {digits, length};
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

Bytes BlockTable::largest() const {
    Bytes most;
    for (const auto& block : blocks_) most = std::max(most, block.bytes);
    return most;
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

bool natural_less(std::string_view a, std::string_view b) {
    const std::string_view whole_a = a;
    const std::string_view whole_b = b;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const auto [digits_a, length_a] = digit_run(a);
            const auto [digits_b, length_b] = digit_run(b);
            if (digits_a.size() != digits_b.size()) return digits_a.size() < digits_b.size();
            if (digits_a != digits_b) return digits_a < digits_b;
            a.remove_prefix(length_a);
            b.remove_prefix(length_b);
            continue;
        }
        if (a.front() != b.front()) return a.front() < b.front();
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    if (a.empty() != b.empty()) return a.empty();
    return whole_a < whole_b;  // equal but for leading zeros
}

}  // namespace ballast::plan
