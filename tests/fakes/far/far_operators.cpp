// What a far device computes: copies by itself, everything else through the processor.

#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/convolution_ops.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <optional>
#include <vector>

#include "tests/fakes/far/far_device.hpp"

namespace ballast::testing::far {
namespace {

using at::Tensor;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

/// Options of factories that do not matter here.
using Layout = std::optional<at::Layout>;
using Pinned = std::optional<bool>;

c10::Allocator* allocator() { return c10::GetAllocator(c10::kPrivateUse1); }

Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type, Layout,
             std::optional<at::Device> device, Pinned, std::optional<at::MemoryFormat> format) {
    const c10::DeviceGuard guard(device.value());
    return Tensor(
        at::detail::empty_generic(size, allocator(), kKeys, type.value_or(at::kFloat), format));
}

Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                     std::optional<at::ScalarType> type, Layout, std::optional<at::Device> device,
                     Pinned) {
    const c10::DeviceGuard guard(device.value());
    return Tensor(at::detail::empty_strided_generic(size, stride, allocator(), kKeys,
                                                    type.value_or(at::kFloat)));
}

/// The same elements for the processor: a tensor over the bytes where they really lie.
Tensor revealed(const Tensor& tensor) {
    if (tensor.device().is_cpu()) return tensor;
    auto* bytes = memory(tensor.device().index()).reveal(tensor.const_data_ptr());
    return at::for_blob(bytes, tensor.sizes())
        .strides(tensor.strides())
        .options(at::TensorOptions(tensor.scalar_type()))
        .make_tensor();
}

Tensor copy_from(const Tensor& from, const Tensor& to, bool non_blocking) {
    if (to.numel() == 0) return to;
    const auto& far = to.device().is_cpu() ? from : to;
    TORCH_CHECK(from.device() == to.device() || from.device().is_cpu() || to.device().is_cpu(),
                "far devices do not reach one another");
    const auto stream = current_stream(far.device().index());
    streams().queue(stream, [from, to] { revealed(to).copy_(revealed(from)); });
    // within a device nobody waits for copies, as little as on a card
    const bool crosses = from.device() != to.device();
    if (crosses && !non_blocking) streams().run(stream);
    return to;
}

/// Only outputs are resized, whose content does not matter.
const Tensor& resize(const Tensor& tensor, at::IntArrayRef size, std::optional<at::MemoryFormat>) {
    auto* impl = tensor.unsafeGetTensorImpl();
    const auto needed = at::detail::computeStorageNbytesContiguous(
        size, tensor.itemsize(), static_cast<std::size_t>(tensor.storage_offset()));
    const auto& storage = impl->unsafe_storage();
    if (storage.nbytes() < needed) {
        const c10::DeviceGuard guard(tensor.device());
        storage.set_data_ptr_noswap(allocator()->allocate(needed));
        storage.set_nbytes(needed);
    }
    impl->set_sizes_contiguous(size);
    return tensor;
}

Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
    if (to.sizes() != from.sizes()) resize(to, from.sizes(), std::nullopt);
    return copy_from(from, to, false);
}

at::Scalar local_scalar(const Tensor& tensor) { return tensor.cpu().item(); }

Tensor convolution(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                   c10::SymIntArrayRef stride, c10::SymIntArrayRef padding,
                   c10::SymIntArrayRef dilation, bool is_transposed,
                   c10::SymIntArrayRef output_padding, c10::SymInt groups) {
    const auto near = [](const Tensor& tensor) { return tensor.cpu(); };
    const auto near_bias = bias && bias->defined() ? std::optional(near(*bias)) : std::nullopt;
    return at::_ops::convolution::call(near(x), near(weight), near_bias, stride, padding, dilation,
                                       is_transposed, output_padding, std::move(groups))
        .to(x.device());
}

void on_the_processor(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
    at::native::cpu_fallback(operation, stack);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
    library.impl("empty.memory_format", &empty);
    library.impl("empty_strided", &empty_strided);
    library.impl("as_strided", &at::native::as_strided_tensorimpl);
    library.impl("view", &at::native::view);
    library.impl("_reshape_alias", &at::native::_reshape_alias);
    library.impl("resize_", &resize);
    library.impl("_copy_from", &copy_from);
    library.impl("_copy_from_and_resize", &copy_from_and_resize);
    library.impl("_local_scalar_dense", &local_scalar);
    library.impl("convolution_overrideable", &convolution);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_processor>());
}

}  // namespace ballast::testing::far
