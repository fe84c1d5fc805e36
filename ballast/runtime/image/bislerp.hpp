#pragma once
// Resampling of latents that keeps the length of their vectors.

#include "ballast/runtime/image/resample.hpp"

namespace ballast::runtime::image {

/// `samples` [N, C, H, W] fp32 at the new size, first along the width, then along the height. Each
/// target lies between two sources as in bilinear resampling; its vector of channels is theirs,
/// turned along the great circle between their directions, with a length in between. Nearly equal
/// directions give the first vector, nearly opposite ones the straight mean.
at::Tensor bislerp(const at::Tensor& samples, Size size);

}  // namespace ballast::runtime::image
