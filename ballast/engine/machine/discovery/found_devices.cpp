#include "ballast/engine/machine/discovery/found_devices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ballast/engine/core/error.hpp"
#include "ballast/engine/machine/discovery/system_files.hpp"

namespace ballast::machine {

std::string driver_text(std::span<const char> buffer) {
    const auto end = std::ranges::find(buffer, '\0');
    const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.begin()));
    return escaped(trimmed(text));
}

std::string uuid_text(std::span<const unsigned char, 16> bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", bytes[i]);
    }
    return text;
}

}  // namespace ballast::machine
