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

namespace {

/// Gives each block of a device its segment.
void cut_into_segments(Layout& layout, const std::vector<DeviceId>& homes, Bytes full) {
    std::map<DeviceId, std::size_t> open;
    for (std::uint32_t b = 0; b < homes.size(); ++b) {
        if (homes[b].kind == DeviceKind::disk) continue;
        auto& block = layout.blocks[b];
        const auto [current, is_first] = open.try_emplace(homes[b], layout.segments.size());
        if (is_first || Bytes{layout.segments[current->second].size} >= full) {
            current->second = layout.segments.size();
            layout.segments.push_back({.device = homes[b]});
        }
        auto& segment = layout.segments[current->second];
        segment.blocks.push_back(b);
        segment.size += block.size;
        block.segment = current->second;
    }
}

/// Gives each piece of the segment's blocks its place in it.
void fill(const Segment& segment, std::vector<BlockLayout>& blocks) {
    std::vector<Piece*> pieces;
    for (const auto b : segment.blocks)
        for (auto& piece : blocks[b].pieces) pieces.push_back(&piece);
    std::ranges::stable_sort(pieces, std::ranges::greater{},
                             [](const Piece* piece) { return alignment_of(piece->size); });
    std::size_t end = 0;
    for (auto* piece : pieces) {
        piece->at = end;
        end += piece->size;
    }
}

}  // namespace

Layout lay_out(const plan::BlockTable& table, const std::vector<DeviceId>& homes,
               Bytes least_segment) {
    constexpr std::uint64_t kSegments = 32;
    Layout layout;
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
        }
        layout.blocks.push_back(std::move(inner));
    }
    cut_into_segments(layout, homes,
                      std::max(Bytes{table.bytes().count() / kSegments}, least_segment));
    for (const auto& segment : layout.segments) fill(segment, layout.blocks);
    return layout;
}

}  // namespace ballast::weights
