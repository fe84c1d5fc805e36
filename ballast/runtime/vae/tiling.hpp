#pragma once
// Running a network over overlapping tiles of its input and blending the results, for inputs whose
// activations do not fit at once.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace ballast::runtime::vae {

/// Sizes in cells of the input. A tile is at least one cell larger than the overlap.
struct Tiles {
    std::int64_t height = 64;
    std::int64_t width = 64;
    std::int64_t overlap = 16;
};

/// Output cells per input cell along one axis, as a fraction: 8/1 for decoding, 1/8 for encoding.
struct Scale {
    std::int64_t up = 1;
    std::int64_t down = 1;
};

/// `network` over [1, C, h, w] pieces of x [B, C, H, W], each picture by itself. Pieces are
/// weighted by linear ramps over the overlap, added up and divided by the sum of weights. An input
/// that fits into one tile is computed in one piece.
at::Tensor tiled(const at::Tensor& x, std::int64_t out_channels, const Tiles& tiles, Scale scale,
                 const std::function<at::Tensor(const at::Tensor&)>& network);

/// The mean of three runs with tiles of different aspect (t/2 x 2t, 2t x t/2, t x t), so that the
/// seams of one are covered by the others.
at::Tensor tiled_three_ways(const at::Tensor& x, std::int64_t out_channels, const Tiles& tiles,
                            Scale scale,
                            const std::function<at::Tensor(const at::Tensor&)>& network);

}  // namespace ballast::runtime::vae
