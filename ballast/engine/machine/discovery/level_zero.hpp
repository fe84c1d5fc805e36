#pragma once
// Intel graphics devices, from the Level Zero loader.

#include <span>
#include <string>

#include "ballast/engine/machine/discovery/found_devices.hpp"

namespace ballast::machine {

/// xpu:0 and so on. The total is the sum of the device's memories. Free memory stays unknown: the
/// interface has no figure that counts other processes. A question that the driver refuses stands
/// in `query_fails`; a device that does not even say what it is, is left out.
FoundDevices level_zero_devices(std::span<const std::string> libraries);

}  // namespace ballast::machine
