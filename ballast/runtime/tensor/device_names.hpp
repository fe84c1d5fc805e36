#pragma once
// Our names of devices as torch's, and back.

#include <c10/core/Device.h>

#include <optional>

#include "ballast/engine/core/device_id.hpp"

namespace ballast::runtime {

/// Nothing for places that torch does not know in this process: `disk`, or a kind whose back end is
/// not loaded. Back ends outside of torch (npu, mlu) share one device type there, which bears the
/// name that they gave it.
std::optional<c10::Device> torch_device(DeviceId id);

/// Nothing for devices that we have no name for (meta and the like).
std::optional<DeviceId> device_id(c10::Device device);

}  // namespace ballast::runtime
