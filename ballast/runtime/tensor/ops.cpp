#include "ballast/runtime/tensor/ops.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/core/IListRef.h>
#include <ATen/ops/_upsample_nearest_exact2d_ops.h>
#include <ATen/ops/adaptive_avg_pool2d_ops.h>
#include <ATen/ops/all_ops.h>
#include <ATen/ops/cat_ops.h>
#include <ATen/ops/clamp_ops.h>
#include <ATen/ops/constant_pad_nd_ops.h>
#include <ATen/ops/conv2d_ops.h>
#include <ATen/ops/cos_ops.h>
#include <ATen/ops/empty_ops.h>
#include <ATen/ops/exp_ops.h>
#include <ATen/ops/flip_ops.h>
#include <ATen/ops/full_ops.h>
#include <ATen/ops/gelu_ops.h>
#include <ATen/ops/group_norm_ops.h>
#include <ATen/ops/index_select_ops.h>
#include <ATen/ops/isfinite_ops.h>
#include <ATen/ops/layer_norm_ops.h>
#include <ATen/ops/linear_ops.h>
#include <ATen/ops/scaled_dot_product_attention_ops.h>
#include <ATen/ops/sigmoid_ops.h>
#include <ATen/ops/silu_ops.h>
#include <ATen/ops/sin_ops.h>
#include <ATen/ops/stack_ops.h>
#include <ATen/ops/upsample_bicubic2d_ops.h>
#include <ATen/ops/upsample_bilinear2d_ops.h>
#include <ATen/ops/upsample_nearest2d_ops.h>
#include <ATen/ops/zeros_ops.h>

#include <torch/headeronly/version.h>

#include <algorithm>
#include <optional>

#include "ballast/runtime/tensor/convolution.hpp"

namespace ballast::runtime::ops {
namespace {

std::optional<at::Tensor> optional(const at::Tensor& tensor) {
    return tensor.defined() ? std::optional<at::Tensor>{tensor} : std::nullopt;
}

/// Torch takes sizes as "symbolic" integers; ours are always plain.
std::vector<c10::SymInt> symbolic(at::IntArrayRef values) { return {values.begin(), values.end()}; }

constexpr at::DeviceType kHost = at::kCPU;

bool is_pointwise(const at::Tensor& weight, std::int64_t stride, std::int64_t padding) {
    return weight.size(2) == 1 && weight.size(3) == 1 && stride == 1 && padding == 0;
}

}  // namespace

at::Tensor empty(at::IntArrayRef shape, at::ScalarType type) {
    return at::_ops::empty_memory_format::call(symbolic(shape), type, at::kStrided,
                                               at::Device(kHost), false, std::nullopt);
}

at::Tensor zeros(at::IntArrayRef shape, at::ScalarType type) {
    return at::_ops::zeros::call(symbolic(shape), type, at::kStrided, at::Device(kHost), false);
}

at::Tensor full(at::IntArrayRef shape, double value, at::ScalarType type) {
    return at::_ops::full::call(symbolic(shape), value, type, at::kStrided, at::Device(kHost),
                                false);
}

at::Tensor range(std::int64_t count) {
    auto tensor = empty({count}, at::kFloat);
    auto* values = tensor.mutable_data_ptr<float>();
    for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
    return tensor;
}

at::Tensor from_floats(const std::vector<float>& values) {
    auto tensor = empty({static_cast<std::int64_t>(values.size())}, at::kFloat);
    std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<float>());
    return tensor;
}

at::Tensor from_ints(const std::vector<std::int64_t>& values) {
    auto tensor = empty({static_cast<std::int64_t>(values.size())}, at::kLong);
    std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<std::int64_t>());
    return tensor;
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    return at::_ops::linear::call(x, weight, optional(bias));
}

at::Tensor conv2d(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  std::int64_t stride, std::int64_t padding) {
    if (is_pointwise(weight, stride, padding) && x.is_contiguous(at::MemoryFormat::ChannelsLast))
        return linear(x.permute({0, 2, 3, 1}), weight.view({weight.size(0), weight.size(1)}), bias)
            .permute({0, 3, 1, 2});
    if (x.device().is_cpu() && prefers_product(x, weight, stride, padding))
        return convolve_by_product(x, weight, bias, stride, padding);
    const std::vector<c10::SymInt> strides{stride, stride};
    const std::vector<c10::SymInt> paddings{padding, padding};
    const std::vector<c10::SymInt> dilations{1, 1};
    return at::_ops::conv2d::call(x, weight, optional(bias), strides, paddings, dilations, 1);
}

at::Tensor group_norm(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight,
                      const at::Tensor& bias, double eps) {
    // channels-last order is the processor's: most accelerators have no kernel for it
    const auto input = x.device().is_cpu() ? x : x.contiguous();
    return at::_ops::group_norm::call(input, groups, optional(weight), optional(bias), eps, false);
}

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      double eps) {
    return at::_ops::layer_norm::call(x, symbolic({x.size(-1)}), optional(weight), optional(bias),
                                      eps, false);
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& mask, bool is_causal) {
    return at::_ops::scaled_dot_product_attention::call(q, k, v, optional(mask), 0.0, is_causal,
                                                        std::nullopt, false);
}

void silu_(at::Tensor& x) { at::_ops::silu_::call(x); }
at::Tensor sigmoid(const at::Tensor& x) { return at::_ops::sigmoid::call(x); }
at::Tensor gated_gelu(at::Tensor x) {
    const auto n = x.size(-1) / 2;
    auto value = x.narrow(-1, 0, n);
    auto gate = x.narrow(-1, n, n);
    at::_ops::gelu_::call(gate, "none");
    return value.mul_(gate);
}
at::Tensor exp(const at::Tensor& x) { return at::_ops::exp::call(x); }
at::Tensor sin(const at::Tensor& x) { return at::_ops::sin::call(x); }
at::Tensor cos(const at::Tensor& x) { return at::_ops::cos::call(x); }
at::Tensor clamp(const at::Tensor& x, double low, double high) {
    return at::_ops::clamp::call(x, std::optional<at::Scalar>{low},
                                 std::optional<at::Scalar>{high});
}

at::Tensor cat(const std::vector<at::Tensor>& parts, std::int64_t axis) {
    return at::_ops::cat::call(at::ITensorListRef(parts), axis);
}
at::Tensor stack(const std::vector<at::Tensor>& parts, std::int64_t axis) {
    return at::_ops::stack::call(parts, axis);
}
at::Tensor pad(const at::Tensor& x, at::IntArrayRef pads) {
    return at::_ops::constant_pad_nd::call(x, symbolic(pads), 0);
}
at::Tensor upsample_nearest(const at::Tensor& x, std::int64_t height, std::int64_t width) {
    return at::_ops::upsample_nearest2d::call(x, symbolic({height, width}), std::nullopt,
                                              std::nullopt);
}
at::Tensor index_select(const at::Tensor& x, std::int64_t axis, const at::Tensor& index) {
    return at::_ops::index_select::call(x, axis, index);
}
at::Tensor flip(const at::Tensor& x, at::IntArrayRef axes) { return at::_ops::flip::call(x, axes); }

at::Tensor resize(const at::Tensor& x, std::int64_t height, std::int64_t width, Resize method) {
    const auto size = symbolic({height, width});
    switch (method) {
        case Resize::nearest_exact:
            return at::_ops::_upsample_nearest_exact2d::call(x, size, std::nullopt, std::nullopt);
        case Resize::bilinear:
            return at::_ops::upsample_bilinear2d::call(x, size, false, std::nullopt, std::nullopt);
        case Resize::bicubic:
            return at::_ops::upsample_bicubic2d::call(x, size, false, std::nullopt, std::nullopt);
        case Resize::area: return at::_ops::adaptive_avg_pool2d::call(x, size);
    }
    return {};
}

at::Tensor normal(at::IntArrayRef shape, const at::Generator& generator, at::ScalarType type) {
    auto tensor = empty(shape, type);
    tensor.normal_(0.0, 1.0, generator);
    return tensor;
}

at::Generator cpu_generator(std::uint64_t seed) { return at::detail::createCPUGenerator(seed); }

bool is_finite(const at::Tensor& x) {
    return at::_ops::all::call(at::_ops::isfinite::call(x)).item<bool>();
}

void set_threads(int count) { at::set_num_threads(std::max(1, count)); }

std::string torch_version() {
    return "libtorch " TORCH_VERSION " (" + at::get_cpu_capability() + ")";
}

}  // namespace ballast::runtime::ops
