#include "ballast/engine/core/error.hpp"

#include <fmt/format.h>

namespace ballast {

std::string_view to_string(Code code) {
    switch (code) {
        case Code::internal: return "internal";
        case Code::usage: return "usage";
        case Code::not_available: return "not_available";
        case Code::not_found: return "not_found";
        case Code::foreign_file: return "foreign_file";
        case Code::corrupt_file: return "corrupt_file";
        case Code::unsupported: return "unsupported";
        case Code::bad_workflow: return "bad_workflow";
        case Code::bad_value: return "bad_value";
        case Code::io: return "io";
        case Code::does_not_fit: return "does_not_fit";
        case Code::out_of_memory: return "out_of_memory";
        case Code::device_lost: return "device_lost";
        case Code::interrupted: return "interrupted";
    }
    return "internal";
}

int exit_status(Code code) {
    switch (code) {
        case Code::internal: return 1;
        case Code::usage:
        case Code::not_available: return 2;
        case Code::not_found:
        case Code::foreign_file:
        case Code::corrupt_file:
        case Code::unsupported:
        case Code::bad_workflow:
        case Code::bad_value:
        case Code::io: return 3;
        case Code::does_not_fit: return 4;
        case Code::out_of_memory:
        case Code::device_lost: return 5;
        case Code::interrupted: return 130;
    }
    return 1;
}

std::string to_string(const Place& place) {
    std::string text;
    const auto add = [&text](std::string part) {
        if (!text.empty()) text += ", ";
        text += std::move(part);
    };
    if (!place.file.empty()) add(place.file);
    if (place.offset) add(fmt::format("offset {}", *place.offset));
    if (!place.node.empty()) add(fmt::format("node {}", place.node));
    if (!place.key.empty()) add(place.key);
    if (place.column) add(fmt::format("column {}", *place.column));
    return text;
}

std::string to_string(const Error& error) {
    std::string text = error.what;
    if (const auto where = to_string(error.place); !where.empty()) text += ": " + where;
    if (!error.why.empty()) text += ": " + error.why;
    return escaped(text);
}

namespace {

/// Length of the well-formed UTF-8 sequence at `text[i]`, 0 if there is none.
std::size_t utf8_length(std::string_view text, std::size_t i) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    const unsigned char lead = byte(i);
    std::size_t length = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        if (lead == 0xE0) low = 0xA0;   // no overlong forms
        if (lead == 0xED) high = 0x9F;  // no surrogates
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        if (lead == 0xF0) low = 0x90;
        if (lead == 0xF4) high = 0x8F;
    } else {
        return 0;
    }
    if (i + length > text.size() || byte(i + 1) < low || byte(i + 1) > high) return 0;
    for (std::size_t k = i + 2; k < i + length; ++k)
        if (byte(k) < 0x80 || byte(k) > 0xBF) return 0;
    if (lead == 0xC2 && byte(i + 1) < 0xA0) return 0;  // C1 control characters
    return length;
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string safe;
    safe.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c >= 0x20 && c < 0x7F) {
            safe += text[i++];
            continue;
        }
        if (const auto length = c < 0x80 ? 0 : utf8_length(text, i); length != 0) {
            safe += text.substr(i, length);
            i += length;
            continue;
        }
        safe += fmt::format("\\x{:02x}", c);
        ++i;
    }
    return safe;
}

}  // namespace ballast
