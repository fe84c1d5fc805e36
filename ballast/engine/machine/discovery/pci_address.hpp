#pragma once
// Where a device sits on the PCI bus.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ballast::machine {

struct PciAddress {
    std::uint32_t domain = 0;
    std::uint32_t bus = 0;       ///< 8 bits
    std::uint32_t device = 0;    ///< 5 bits
    std::uint32_t function = 0;  ///< 3 bits

    auto operator<=>(const PciAddress&) const = default;
};

/// "0000:c5:00.0", as the folders of /sys are called.
std::string to_string(const PciAddress& address);

/// Drivers write letters large or small and domains with four or eight digits, or leave the domain
/// or the function out.
std::optional<PciAddress> parse_pci(std::string_view text);

}  // namespace ballast::machine
