#pragma once
// Accelerators of which little can be asked without occupying them: they are found and named, and
// their memory is unknown unless said otherwise. A library without the functions that are needed
// (other projects use the same file names) means that nothing is found.

#include <span>
#include <string>

#include "ballast/engine/machine/discovery/found_devices.hpp"

namespace ballast::machine {

/// Huawei Ascend: npu:0 and so on.
FoundDevices ascend_devices(std::span<const std::string> libraries);

/// Cambricon: mlu:0 and so on.
FoundDevices cambricon_devices(std::span<const std::string> libraries);

/// DirectML under WSL: directml:0 if all of `files` exist. They are not opened.
FoundDevices directml_devices(std::span<const std::string> files);

/// Iluvatar CoreX: corex:0 and so on, with total and free memory from its management library.
FoundDevices corex_devices(std::span<const std::string> libraries);

}  // namespace ballast::machine
