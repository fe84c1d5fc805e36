#include "ballast/runtime/vae/tiling.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::vae {
namespace {

std::int64_t scaled(std::int64_t cells, Scale scale) {
    return std::llrint(static_cast<double>(cells * scale.up) / static_cast<double>(scale.down));
}

/// Where tiles begin along an axis of `size` cells.
std::vector<std::int64_t> starts(std::int64_t size, std::int64_t tile, std::int64_t overlap) {
    if (size <= tile) return {0};
    std::vector<std::int64_t> found;
    const auto stride = std::max<std::int64_t>(1, tile - overlap);
    for (std::int64_t at = 0; at < size - overlap; at += stride) found.push_back(at);
    return found;
}

/// Weights of one piece: rising over the first `feather` cells of each axis, falling over the last.
at::Tensor ramp(std::int64_t height, std::int64_t width, std::int64_t feather) {
    const auto along = [feather](std::int64_t size) {
        auto line = ops::full({size}, 1.0, at::kFloat);
        if (feather >= size) return line;
        auto* values = line.mutable_data_ptr<float>();
        for (std::int64_t t = 0; t < feather; ++t) {
            const auto weight = static_cast<float>(t + 1) / static_cast<float>(feather);
            values[t] *= weight;
            values[size - 1 - t] *= weight;
        }
        return line;
    };
    return along(height).unsqueeze(1).mul(along(width).unsqueeze(0));
}

at::Tensor tiled_picture(const at::Tensor& x, std::int64_t out_channels, const Tiles& tiles,
                         Scale scale, const std::function<at::Tensor(const at::Tensor&)>& network) {
    const auto height = x.size(2);
    const auto width = x.size(3);
    if (height <= tiles.height && width <= tiles.width) return network(x).to(at::kCPU, at::kFloat);
    auto sum =
        ops::zeros({1, out_channels, scaled(height, scale), scaled(width, scale)}, at::kFloat);
    auto weights = ops::zeros({1, 1, sum.size(2), sum.size(3)}, at::kFloat);
    for (const auto row : starts(height, tiles.height, tiles.overlap)) {
        for (const auto column : starts(width, tiles.width, tiles.overlap)) {
            const auto piece =
                network(x.narrow(2, row, std::min(tiles.height, height - row))
                            .narrow(3, column, std::min(tiles.width, width - column)))
                    .to(at::kCPU, at::kFloat);
            const auto weight = ramp(piece.size(2), piece.size(3), scaled(tiles.overlap, scale));
            const auto place = [&](const at::Tensor& whole) {
                return whole.narrow(2, scaled(row, scale), piece.size(2))
                    .narrow(3, scaled(column, scale), piece.size(3));
            };
            place(sum).add_(piece.mul(weight));
            place(weights).add_(weight);
        }
    }
    return sum.div_(weights);
}

}  // namespace

at::Tensor tiled(const at::Tensor& x, std::int64_t out_channels, const Tiles& tiles, Scale scale,
                 const std::function<at::Tensor(const at::Tensor&)>& network) {
    std::vector<at::Tensor> pictures;
    for (std::int64_t b = 0; b < x.size(0); ++b)
        pictures.push_back(tiled_picture(x.narrow(0, b, 1), out_channels, tiles, scale, network));
    return ops::cat(pictures, 0);
}

at::Tensor tiled_three_ways(const at::Tensor& x, std::int64_t out_channels, const Tiles& tiles,
                            Scale scale,
                            const std::function<at::Tensor(const at::Tensor&)>& network) {
    const auto pass = [&](std::int64_t height, std::int64_t width) {
        return tiled(x, out_channels, {.height = height, .width = width, .overlap = tiles.overlap},
                     scale, network);
    };
    auto sum = pass(tiles.height * 2, tiles.width / 2);
    sum.add_(pass(tiles.height / 2, tiles.width * 2));
    sum.add_(pass(tiles.height, tiles.width));
    return sum.div_(3.0);
}

}  // namespace ballast::runtime::vae
