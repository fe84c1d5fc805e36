#pragma once
// AMD devices, from the HIP runtime and what the graphics driver writes into /sys.

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "ballast/engine/machine/discovery/found_devices.hpp"

namespace ballast::machine {

/// cuda:`first_index` and on, as every framework calls them. Names, totals and what is integrated
/// come from the runtime; free memory, the host memory that the device may map (GTT), the
/// firmware's carve-out (integrated devices only) and the architecture from the graphics driver,
/// so that no context is created. A question that the runtime refuses stands in `query_fails`.
FoundDevices hip_devices(std::span<const std::string> libraries, const std::filesystem::path& sys,
                         int first_index);

/// "gfx1151" for the kernel's 110501; empty for 0, which is a processor.
std::string architecture_name(std::uint64_t target_version);

}  // namespace ballast::machine
