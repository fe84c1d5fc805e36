#include "ballast/engine/core/error.hpp"

#include <fmt/format.h>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/utf8.hpp"

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
        case Code::write_failed: return "write_failed";
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
        case Code::device_lost:
        case Code::write_failed: return 5;
        case Code::interrupted: return 130;
    }
    return 1;
}

std::string to_string(const Place& place) {
    std::string text;
    const auto add = [&text](std::string_view part) {
        if (!text.empty()) text += ", ";
        text += part;
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
    const auto& place = error.place;
    const bool is_in_text = place.column && !place.key.empty() && place.file.empty() &&
                            !place.offset && place.node.empty();
    if (is_in_text) {
        text += fmt::format(", column {} (\"{}\")", *place.column, place.key);
    } else if (const auto where = to_string(place); !where.empty()) {
        text += ": " + where;
    }
    if (!error.why.empty()) text += ": " + error.why;
    return escaped(text);
}

namespace {

/// Whether the well-formed sequence would steer a terminal instead of showing: C0 and C1 control
/// characters, line and paragraph separators, and the overrides of writing direction.
bool is_steering(std::string_view sequence) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(sequence[k]); };
    if (sequence.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
    if (sequence.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
    if (sequence.size() != 3 || byte(0) != 0xE2) return false;
    return (byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) ||  // U+2028 to U+202E
           (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);    // U+2066 to U+2069
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string safe;
    safe.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const auto length = utf8_length(text, i);
        const auto sequence = text.substr(i, length == 0 ? 1 : length);
        if (length != 0 && !is_steering(sequence)) {
            safe += sequence;
        } else {
            for (const char c : sequence)
                safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
        i += sequence.size();
    }
    return safe;
}

std::string to_string(DeviceId device, const Shortfall& lack) {
    return fmt::format("{}: needed {}, available {}, missing {}", to_string(device),
                       to_string(Bytes{lack.needed}), to_string(Bytes{lack.available}),
                       to_string(Bytes{lack.missing()}));
}

std::string to_string(const Shortfalls& shortfalls) {
    std::string text;
    for (const auto& [device, lack] : shortfalls)
        text += (text.empty() ? "" : "; ") + to_string(device, lack);
    return text;
}

void keep_worst(Shortfalls& worst, const Shortfalls& others) {
    for (const auto& [device, lack] : others)
        if (auto& known = worst[device]; lack.missing() > known.missing()) known = lack;
}

Error at_node(Error error, const std::string& node) {
    if (error.place.node.empty()) error.place.node = node;
    return error;
}

}  // namespace ballast
