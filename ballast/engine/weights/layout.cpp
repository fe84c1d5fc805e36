#include "ballast/engine/weights/layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace ballast::weights {
namespace {

constexpr std::size_t kCacheLine = 64;

/// The largest power of two up to a cache line that divides `size`.
std::size_t alignment_of(std::size_t size) { return std::min(size & (~size + 1), kCacheLine); }

/// What torch reads as one value.
std::size_t element_alignment(const plan::BlockTensor& tensor) {
    return std::max(bits(tensor.type) / 8, 1U);
}

BlockLayout inner_layout(const plan::Block& block) {
    BlockLayout layout;
    layout.tensors.resize(block.tensors.size());
    std::vector<std::size_t> order(block.tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t t) {
        return alignment_of(block.tensors[t].bytes.count());
    });
    for (const auto t : order) {
        layout.tensors[t] = layout.size;
        layout.size += block.tensors[t].bytes.count();
    }
    return layout;
}

bool is_regular(const plan::Block& block, std::size_t size) {
    return std::ranges::all_of(block.tensors, [&](const plan::BlockTensor& tensor) {
        return size % element_alignment(tensor) == 0;
    });
}

}  // namespace

std::size_t BlockLayout::place(std::size_t tensor) const {
    if (pieces.size() == 1) return pieces.front().at + tensors[tensor] - pieces.front().within;
    return pieces[tensor].at;
}

Layout lay_out(const plan::BlockTable& table, const std::vector<DeviceId>& homes) {
    struct Unit {
        std::size_t block;
        std::size_t piece;
        std::size_t size;
    };
    Layout layout;
    std::vector<Unit> units;
    const auto& blocks = table.blocks();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        auto inner = inner_layout(blocks[b]);
        layout.per_device[homes[b]] += Bytes{inner.size};
        if (homes[b].kind != DeviceKind::disk) {
            if (is_regular(blocks[b], inner.size))
                inner.pieces.push_back({.within = 0, .size = inner.size});
            else
                for (std::size_t t = 0; t < inner.tensors.size(); ++t)
                    inner.pieces.push_back(
                        {.within = inner.tensors[t], .size = blocks[b].tensors[t].bytes.count()});
            for (std::size_t p = 0; p < inner.pieces.size(); ++p)
                units.push_back({b, p, inner.pieces[p].size});
        }
        layout.blocks.push_back(std::move(inner));
    }
    std::ranges::stable_sort(units, std::ranges::greater{},
                             [](const Unit& unit) { return alignment_of(unit.size); });
    for (const auto& unit : units) {
        auto& end = layout.regions[homes[unit.block]];
        layout.blocks[unit.block].pieces[unit.piece].at = end;
        end += unit.size;
    }
    return layout;
}

}  // namespace ballast::weights
