#pragma once
// This machine as a profile: the only place where Ballast looks at the machine that it runs on.

#include <filesystem>
#include <string>
#include <vector>

#include "ballast/engine/machine/discovery/found_devices.hpp"
#include "ballast/engine/machine/profile.hpp"

namespace ballast::machine {

struct DiscoveryOptions {
    std::filesystem::path proc = "/proc";
    std::filesystem::path sys = "/sys";
    DriverLibraries libraries{};
    std::filesystem::path models{};  ///< a folder of model files; empty: storage stays unknown
};

struct Discovery {
    MachineProfile profile{};
    std::vector<std::string> warnings{};  ///< what could not be found out and should have been
};

/// Looks at the system, its memory and container, at every driver that is installed, and at the
/// links to the devices. Never fails: what cannot be found out is unknown, and a warning tells of
/// what every machine should have. Creates no context on any device and measures nothing, so it
/// takes milliseconds beside what the drivers themselves need to start. Devices come in the order
/// cuda, xpu, npu, mlu, directml, corex; AMD's cuda devices are numbered after NVIDIA's.
Discovery discover(const DiscoveryOptions& options);

}  // namespace ballast::machine
