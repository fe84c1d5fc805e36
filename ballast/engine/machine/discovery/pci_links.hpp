#pragma once
// How fast bytes can travel between the host and a card.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/machine/profile.hpp"

namespace ballast::machine {

/// What large copies reach over a link of that speed ("16.0 GT/s PCIe") and width, in 10^9 bytes
/// per second: the rate after the encoding of its generation (PCI Express base specification: 8 of
/// 10 bits up to 5 GT/s, 128 of 130 up to 32, 242 of 256 from 64), less 15 % for packet headers
/// and flow control.
std::optional<double> copy_gbps(std::string_view speed, std::uint64_t lanes);

/// Both directions between the host and `device`, from <sys>/bus/pci/devices. The narrowest part
/// on the way counts: a card is no faster than its slot. Both at their best, not at their present
/// state, since idle links are slowed down. Nothing for devices without an address, and for
/// integrated ones, whose bytes take no such way whatever their folder says.
std::vector<Link> pci_links(const std::filesystem::path& sys, const DeviceProfile& device);

}  // namespace ballast::machine
