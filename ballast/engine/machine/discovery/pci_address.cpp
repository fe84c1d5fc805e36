#include "ballast/engine/machine/discovery/pci_address.hpp"

#include <fmt/format.h>

#include <charconv>

namespace ballast::machine {
namespace {

std::optional<std::uint32_t> hex(std::string_view text, std::uint32_t most) {
    std::uint32_t value = 0;
    const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (fault != std::errc{} || stop != text.data() + text.size() || value > most)
        return std::nullopt;
    return value;
}

/// Cuts what stands after the last `separator` off `text`; nothing if there is none.
std::optional<std::string_view> cut_last(std::string_view& text, char separator) {
    const auto at = text.rfind(separator);
    if (at == std::string_view::npos) return std::nullopt;
    const auto last = text.substr(at + 1);
    text = text.substr(0, at);
    return last;
}

}  // namespace

std::string to_string(const PciAddress& address) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, address.bus, address.device,
                       address.function);
}

std::optional<PciAddress> parse_pci(std::string_view text) {
    const auto function = hex(cut_last(text, '.').value_or("0"), 7);
    const auto device_text = cut_last(text, ':');
    const auto bus_text = cut_last(text, ':');  // without a domain, `text` is all of the bus
    const auto device = hex(device_text.value_or(""), 31);
    const auto bus = hex(bus_text.value_or(text), 255);
    const auto domain = hex(bus_text ? text : "0", 0xFFFFFFFF);
    if (!function || !device || !bus || !domain) return std::nullopt;
    return PciAddress{*domain, *bus, *device, *function};
}

}  // namespace ballast::machine
