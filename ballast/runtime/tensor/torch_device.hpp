#pragma once
// Accelerators by way of libtorch: its allocators, streams and events behind our interface.
//
// Whatever device type the loaded libtorch has a guard for is driven through that guard: cuda (also
// builds for ROCm), xpu, mps, and back ends outside of torch. Nothing here is made for one vendor.
//
// Copies between device and host run beside the caller only if the host's memory is pinned; from
// and to other memory they are done, or nearly done, when `copy` returns. Whether a card reads the
// memory of another is a question that torch answers for none: each reaches itself and the host,
// and what goes from card to card is staged (`Transfers`).
//
// Devices are addressed by index, under a guard for each call: the calling thread's current device
// and stream are the same afterwards.

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "ballast/engine/device/device.hpp"

namespace ballast::runtime {

/// One for each accelerator that torch sees now (`load_accelerator_libraries` first). Call
/// it once for a machine: each device knows the memory that it allocated itself. Costs nothing: a
/// device is woken when it is used. Its back end must offer streams, events, and to
/// wait for a whole device. What it allocates is freed only when the device is idle, and is never
/// mixed with what tensors of other streams leave behind. `empty_cache` acts on the device, but
/// torch's allocators have one such call for all devices of a type: the others give their blocks
/// back, too. Those that are asleep have none, and are not woken by it.
std::vector<std::shared_ptr<device::Device>> torch_devices();

/// Where tensors over the memory of `device` lie: the processor for all that are not torch's.
at::Device tensor_device(const device::Device& device);

/// Returns when everything is done that the calling thread has begun on `device`.
void finish_arithmetic(const device::Device& device);

/// A tensor over `bytes` of `device`, which must outlive it and every view of it. Never written
/// to. They begin at a multiple of the type's size within their allocation.
at::Tensor view_on(const device::Device& device, std::span<const std::byte> bytes,
                   at::ScalarType type, at::IntArrayRef shape);

}  // namespace ballast::runtime
