#include "ballast/runtime/text/python_float.hpp"

#include <algorithm>
#include <string>

#include "ballast/engine/core/python_number.hpp"
#include "ballast/runtime/text/unicode.hpp"

namespace ballast::runtime::text {

namespace {

/// Digits of all scripts as ASCII, white space stripped; nothing if other characters remain.
std::optional<std::string> to_ascii(std::string_view text) {
    const auto points = decode_utf8(text);
    const auto first = std::find_if_not(points.begin(), points.end(), is_white_space);
    const auto last = std::find_if_not(points.rbegin(), points.rend(), is_white_space).base();
    std::string ascii;
    for (auto c = first; c < last; ++c) {
        if (const auto digit = *c < 0x80 ? std::nullopt : decimal_digit(*c))
            ascii += static_cast<char>('0' + *digit);
        else if (*c < 0x80)
            ascii += static_cast<char>(*c);
        else
            return std::nullopt;
    }
    return ascii;
}

}  // namespace

std::optional<double> parse_python_float(std::string_view text) {
    const auto ascii = to_ascii(text);
    return ascii ? ballast::parse_python_float(*ascii) : std::nullopt;
}

}  // namespace ballast::runtime::text
