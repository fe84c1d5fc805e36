#include "ballast/graph/smaller_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ballast::graph {
namespace {

constexpr Tiles kSeamless{.side = 64, .overlap = 16};
constexpr std::int64_t kSmallestSide = 8;
constexpr int kHalvings = 2;

/// Whether the tiles are smaller than the picture, so that they need less than the whole.
bool is_cut_by(const Tiles& tiles, std::int64_t height, std::int64_t width) {
    return tiles.side < height || tiles.side < width;
}

}  // namespace

std::vector<Extent> whole_or_tiles(std::int64_t height, std::int64_t width) {
    std::vector<Extent> extents{{.how = "whole"}};
    if (is_cut_by(kSeamless, height, width))
        extents.push_back({.how = "in tiles", .tiles = kSeamless});
    return extents;
}

std::vector<Extent> smaller_and_smaller(Tiles tiles, std::int64_t height, std::int64_t width) {
    std::vector<Extent> extents{{.how = "in tiles", .tiles = tiles}};
    for (int i = 0; i < kHalvings && tiles.side >= 2 * kSmallestSide; ++i) {
        tiles = {.side = tiles.side / 2, .overlap = tiles.overlap / 2};
        if (is_cut_by(tiles, height, width))
            extents.push_back(
                {.how = fmt::format("in tiles of {} latent cells", tiles.side), .tiles = tiles});
    }
    return extents;
}

std::vector<SmallerStep> smaller_network_steps(const models::StepShape& shape) {
    if (shape.sides == 1) return {};
    SmallerStep smaller{.how = kOneTextAtATime, .shape = shape};
    smaller.shape.sides = 1;
    return {smaller};
}

std::vector<SmallerStep> smaller_autoencoder_steps(const models::StepShape& shape,
                                                   const std::vector<Extent>& extents) {
    std::vector<SmallerStep> steps;
    for (std::size_t i = 1; i < extents.size(); ++i)
        steps.push_back({.how = extents[i].how, .shape = within(shape, extents[i])});
    return steps;
}

models::StepShape within(models::StepShape shape, const Extent& extent) {
    if (!extent.tiles) return shape;
    shape.height = std::min(shape.height, extent.tiles->side);
    shape.width = std::min(shape.width, extent.tiles->side);
    return shape;
}

}  // namespace ballast::graph
