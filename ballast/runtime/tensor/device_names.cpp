#include "ballast/runtime/tensor/device_names.hpp"

#include <c10/core/DeviceType.h>

#include <limits>

namespace ballast::runtime {
namespace {

/// What the back end outside of torch calls itself; `privateuseone` as long as it did not say.
DeviceKind outside_kind() {
    const auto named = parse_device(c10::get_privateuse1_backend());
    return named ? named->kind : DeviceKind::privateuseone;
}

std::optional<c10::DeviceType> type_of(DeviceKind kind) {
    switch (kind) {
        case DeviceKind::cpu: return c10::kCPU;
        case DeviceKind::cuda: return c10::kCUDA;
        case DeviceKind::xpu: return c10::kXPU;
        case DeviceKind::mps: return c10::kMPS;
        case DeviceKind::npu:
        case DeviceKind::mlu:
        case DeviceKind::directml:
        case DeviceKind::corex:
        case DeviceKind::privateuseone:
            if (kind == outside_kind()) return c10::kPrivateUse1;
            return std::nullopt;
        case DeviceKind::disk: return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::optional<c10::Device> torch_device(DeviceId id) {
    const auto type = type_of(id.kind);
    if (!type || id.index < 0 || id.index > std::numeric_limits<c10::DeviceIndex>::max())
        return std::nullopt;
    // tensors of the processor bear no index
    if (*type == c10::kCPU) return c10::Device(c10::kCPU);
    return c10::Device(*type, static_cast<c10::DeviceIndex>(id.index));
}

std::optional<DeviceId> device_id(c10::Device device) {
    const int index = device.has_index() ? device.index() : 0;
    switch (device.type()) {
        case c10::kCPU: return kCpu;
        case c10::kCUDA: return DeviceId{DeviceKind::cuda, index};
        case c10::kXPU: return DeviceId{DeviceKind::xpu, index};
        case c10::kMPS: return DeviceId{DeviceKind::mps, index};
        case c10::kPrivateUse1: return DeviceId{outside_kind(), index};
        default: return std::nullopt;
    }
}

}  // namespace ballast::runtime
