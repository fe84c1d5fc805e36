#pragma once
// The operators that our networks and samplers use, over at::Tensor. The only file that sees
// torch's operator headers is ops.cpp, which keeps the rest cheap to compile; extend it here
// instead of including <ATen/ops/...> elsewhere. Shapes follow torch.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ballast::runtime::ops {

// making tensors (CPU)
at::Tensor empty(at::IntArrayRef shape, at::ScalarType type);
at::Tensor zeros(at::IntArrayRef shape, at::ScalarType type);
at::Tensor full(at::IntArrayRef shape, double value, at::ScalarType type);
/// 0, 1, ... count - 1 as fp32.
at::Tensor range(std::int64_t count);
/// 1-D fp32 tensor of the values.
at::Tensor from_floats(const std::vector<float>& values);
at::Tensor from_ints(const std::vector<std::int64_t>& values);

// layers
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);
/// In whatever way is fastest for shapes and device; keeps channels-last order in memory.
at::Tensor conv2d(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  std::int64_t stride, std::int64_t padding);
at::Tensor group_norm(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight,
                      const at::Tensor& bias, double eps);
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      double eps);
/// q, k, v [B, heads, tokens, width]; always four axes: with three the fused path is not taken and
/// the score matrix costs sixty times the memory. `mask` is added to the scores; may be undefined.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& mask = {}, bool is_causal = false);

// elementwise
void silu_(at::Tensor& x);
at::Tensor sigmoid(const at::Tensor& x);
/// value * gelu(gate), exact, of x [.., 2n], which holds n values, then n gates in each row: [..,
/// n], a view of x, which is overwritten.
at::Tensor gated_gelu(at::Tensor x);
at::Tensor exp(const at::Tensor& x);
at::Tensor sin(const at::Tensor& x);
at::Tensor cos(const at::Tensor& x);
at::Tensor clamp(const at::Tensor& x, double low, double high);

// shape
at::Tensor cat(const std::vector<at::Tensor>& parts, std::int64_t axis);
at::Tensor stack(const std::vector<at::Tensor>& parts, std::int64_t axis);
/// Zeros appended: `pads` from the last axis backwards, as torch's constant_pad_nd.
at::Tensor pad(const at::Tensor& x, at::IntArrayRef pads);
at::Tensor upsample_nearest(const at::Tensor& x, std::int64_t height, std::int64_t width);
at::Tensor index_select(const at::Tensor& x, std::int64_t axis, const at::Tensor& index);
at::Tensor flip(const at::Tensor& x, at::IntArrayRef axes);

enum class Resize { nearest_exact, bilinear, bicubic, area };
/// Resamples the two last axes of [N, C, H, W], not antialiased, corners not aligned.
at::Tensor resize(const at::Tensor& x, std::int64_t height, std::int64_t width, Resize method);

/// Standard normal values from the CPU generator seeded with `seed`: the reference's noise.
at::Tensor normal(at::IntArrayRef shape, const at::Generator& generator,
                  at::ScalarType type = at::kFloat);
at::Generator cpu_generator(std::uint64_t seed);

/// True when every value is finite.
bool is_finite(const at::Tensor& x);

/// Threads of torch's own parallel regions.
void set_threads(int count);

/// "libtorch 2.13.0 (AVX512)": the library in use and the instruction set that it chose.
std::string torch_version();

}  // namespace ballast::runtime::ops
