#pragma once
// NVIDIA devices, from the driver library.
//
// No context is ever created: on some systems one on a device that nobody uses breaks the device
// in use, and it costs hundreds of MiB. So nothing is called that needs a context, and free memory
// comes from the management library, if it can say.

#include <span>
#include <string>

#include "ballast/engine/machine/discovery/found_devices.hpp"

namespace ballast::machine {

/// cuda:0 and so on, in the driver's order (which follows CUDA_VISIBLE_DEVICES). A question that
/// the driver refuses leaves its field unknown and stands in `query_fails`: `attributes` when it
/// does not say whether the device is integrated (others are unknown to older drivers), `free` when
/// the device has no such figure.
FoundDevices cuda_devices(std::span<const std::string> libraries,
                          std::span<const std::string> nvml_libraries);

}  // namespace ballast::machine
