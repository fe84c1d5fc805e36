#pragma once
// Between pictures as tensors (fp32, 0..1) and pictures in bytes.

#include <ATen/core/Tensor.h>

#include "ballast/runtime/image/raster.hpp"

namespace ballast::runtime::image {

/// 255 times the value in fp32, limited to 0..255, its fraction dropped; nan becomes 0.
std::uint8_t to_byte(float value);

/// One picture [H, W, 3 or more], values 0..1, as 8-bit RGB; further channels are dropped.
Raster to_raster(const at::Tensor& picture);

/// [1, H, W, 3] fp32: the colours divided by 255.
at::Tensor image_of(const Raster& raster);

/// [1, H, W] fp32: one minus alpha. Without alpha it is [1, 64, 64] of zeros, as in the reference.
at::Tensor mask_of(const Raster& raster);

}  // namespace ballast::runtime::image
