#include "ballast/graph/python_json.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace ballast::graph {

namespace {

/// The code point at the start of `text`, and the bytes it takes; U+FFFD and 1 if malformed.
std::pair<char32_t, std::size_t> first_code_point(std::string_view text) {
    constexpr std::pair<char32_t, std::size_t> kMalformed{0xFFFD, 1};
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    if (lead < 0xC2 || lead > 0xF4) return kMalformed;
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (text.size() < length) return kMalformed;
    char32_t value = lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return kMalformed;
        value = (value << 6U) | (byte(i) & 0x3FU);
    }
    constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < kLeast[length] || value > 0x10FFFF || is_surrogate) return kMalformed;
    return {value, length};
}

void write_text(std::string_view text, std::string& out) {
    const auto unit = [&out](std::uint32_t code) { out += fmt::format("\\u{:04x}", code); };
    out += '"';
    while (!text.empty()) {
        const auto [code, length] = first_code_point(text);
        text.remove_prefix(length);
        switch (code) {
            case '"': out += "\\\""; continue;
            case '\\': out += "\\\\"; continue;
            case '\b': out += "\\b"; continue;
            case '\f': out += "\\f"; continue;
            case '\n': out += "\\n"; continue;
            case '\r': out += "\\r"; continue;
            case '\t': out += "\\t"; continue;
            default: break;
        }
        if (code >= 0x20 && code < 0x7F) {
            out += static_cast<char>(code);
        } else if (code < 0x10000) {
            // Python leaves DEL as it is
            if (code == 0x7F)
                out += '\x7F';
            else
                unit(code);
        } else {
            unit(0xD800U + ((code - 0x10000U) >> 10U));
            unit(0xDC00U + ((code - 0x10000U) & 0x3FFU));
        }
    }
    out += '"';
}

/// repr(): the shortest digits that read back as the same number, with an exponent below 1e-4 and
/// from 1e16 on.
void write_number(double value, std::string& out) {
    if (std::isnan(value)) {
        out += "NaN";
        return;
    }
    if (std::isinf(value)) {
        out += value < 0 ? "-Infinity" : "Infinity";
        return;
    }
    const double size = std::fabs(value);
    const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e16);
    std::array<char, 64> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value,
                      is_plain ? std::chars_format::fixed : std::chars_format::scientific)
            .ptr;
    const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
    out += text;
    if (is_plain && text.find('.') == std::string_view::npos) out += ".0";
}

/// Documents are at most `kMaxJsonDepth` deep, so recursion is safe.
void write(const Json& value, std::string& out) {
    if (value.is_object()) {
        out += '{';
        const char* separator = "";
        for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
            out += separator;
            write_text(key, out);
            out += ": ";
            write(member, out);
            separator = ", ";
        }
        out += '}';
    } else if (value.is_array()) {
        out += '[';
        const char* separator = "";
        for (const auto& element : value) {
            out += separator;
            write(element, out);
            separator = ", ";
        }
        out += ']';
    } else if (value.is_string()) {
        write_text(value.get_ref<const std::string&>(), out);
    } else if (value.is_number_float()) {
        write_number(value.get<double>(), out);
    } else {
        out += value.dump();  // whole numbers, true, false, null
    }
}

}  // namespace

std::string python_json(const Json& value) {
    std::string out;
    write(value, out);
    return out;
}

}  // namespace ballast::graph
