#include "ballast/graph/smaller_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
    const auto side = extent.tiles->side;
    auto largest = shape;
    std::int64_t most = 0;
    // a picture is cut three times, into squares, wide and tall tiles
    for (const auto& [height, width] :
         {std::pair{side, side}, std::pair{side / 2, side * 2}, std::pair{side * 2, side / 2}}) {
        auto tile = shape;
        tile.height = std::clamp<std::int64_t>(height, 1, shape.height);
        tile.width = std::clamp<std::int64_t>(width, 1, shape.width);
        if (tile.height * tile.width <= most) continue;
        most = tile.height * tile.width;
        largest = tile;
    }
    return largest;
}

}  // namespace ballast::graph
