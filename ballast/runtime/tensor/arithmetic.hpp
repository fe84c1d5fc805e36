#pragma once
// Formulas over tensors: + - * / for tensors and fp32 scalars, so that samplers and guidance read
// like the papers they come from.
//
// Each operator is one torch operation, never fused with its neighbour: a fused multiply-add rounds
// once instead of twice, and the last bit would differ from the reference. Torch's own operators
// (ATen/TensorOperators.h) are not used, since including them triples the cost of a source file.

#include <ATen/core/Tensor.h>

namespace ballast::runtime {

inline at::Tensor operator+(const at::Tensor& a, const at::Tensor& b) { return a.add(b); }
inline at::Tensor operator-(const at::Tensor& a, const at::Tensor& b) { return a.sub(b); }
inline at::Tensor operator*(const at::Tensor& a, const at::Tensor& b) { return a.mul(b); }
inline at::Tensor operator/(const at::Tensor& a, const at::Tensor& b) { return a.div(b); }

inline at::Tensor operator+(const at::Tensor& a, float b) { return a.add(b); }
inline at::Tensor operator-(const at::Tensor& a, float b) { return a.sub(b); }
inline at::Tensor operator*(const at::Tensor& a, float b) { return a.mul(b); }
inline at::Tensor operator*(float a, const at::Tensor& b) { return b.mul(a); }
inline at::Tensor operator/(const at::Tensor& a, float b) { return a.div(b); }

}  // namespace ballast::runtime
