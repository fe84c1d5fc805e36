#pragma once
// Convolution as one matrix product over gathered windows ("im2col").
//
// The library's convolution first reorders the weights for its kernel. With few output positions
// that costs more than the convolution itself: at 8x8 positions and 1280 channels three quarters of
// the time. A product reads them as they are stored.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ballast::runtime::ops {

/// True where `convolve_by_product` is the faster way on the processor: fewer output positions than
/// output channels.
bool prefers_product(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride,
                     std::int64_t padding);

/// Of CPU tensors: x [N, C, H, W] in any memory order, weight [K, C, kh, kw] contiguous and of the
/// same floating type, bias [K] or undefined -> [N, K, H', W'], channels-last in memory.
at::Tensor convolve_by_product(const at::Tensor& x, const at::Tensor& weight,
                               const at::Tensor& bias, std::int64_t stride, std::int64_t padding);

}  // namespace ballast::runtime::ops
