#pragma once
// How much one conditioning entry counts at each position of the latent.

#include <ATen/core/Tensor.h>

#include <optional>

#include "ballast/runtime/sampling/conditioning/prepared.hpp"

namespace ballast::runtime::sampling {

/// The part of an area that lies in a latent of that size.
Area clipped(const Area& area, std::int64_t height, std::int64_t width);

/// The view of `x` [.., h, w] inside `area`, or all of it.
at::Tensor inside(const at::Tensor& x, const std::optional<Area>& area);

/// strength * mask * mask strength over the entry's area (clipped), [B or 1, 1, h, w]. An area
/// without a mask fades out over at most eight cells, and at most a quarter of its length, on sides
/// that are not borders of the latent.
at::Tensor weight_map(const PreparedEntry& entry, const std::optional<Area>& area,
                      at::IntArrayRef latent_shape);

}  // namespace ballast::runtime::sampling
