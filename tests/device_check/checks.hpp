#pragma once
// What a device must pass before Ballast is trusted with it. Used by the program device_check.

#include <memory>
#include <string>

#include "ballast/engine/device/device.hpp"

namespace ballast::device_check {

struct Outcome {
    bool has_passed = false;
    std::string figures{};  ///< one line
};

/// The suite that every device of Ballast passes (tests/support/device_behaviour.hpp). Failures go
/// to standard error in full.
Outcome behaves(const std::shared_ptr<device::Device>& device);

/// A small network, its weights spread over the device, the host and disk, gives the recorded
/// results: within the processor's tolerance, or for cuda within that of TF32, to which its
/// convolutions may round.
Outcome computes(const std::shared_ptr<device::Device>& device);

/// A limit below what a model takes there refuses it before anything moves, and nothing stays held.
Outcome keeps_limits(const std::shared_ptr<device::Device>& device);

/// A hundred times loading a model, using each block and freeing it: neither the device's nor the
/// process's memory grows by as much as one load.
Outcome gives_memory_back(const std::shared_ptr<device::Device>& device);

}  // namespace ballast::device_check
