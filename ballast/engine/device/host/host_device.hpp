#pragma once
// The host's memory as a device. Copies are done at once, by the thread that asks for them.

#include <memory>

#include "ballast/engine/device/device.hpp"

namespace ballast::device {

/// `cpu`. Each allocation is an anonymous mapping of its own, so that it is given back to the
/// system at once and in full, whatever the habits of the C library's allocator are.
std::shared_ptr<Device> make_host_device();

}  // namespace ballast::device
