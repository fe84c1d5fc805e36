#include "ballast/graph/python_json.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "ballast/engine/core/utf8.hpp"

namespace ballast::graph {

namespace {

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
