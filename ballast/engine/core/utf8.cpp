#include "ballast/engine/core/utf8.hpp"

namespace ballast {

std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[at + k]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    std::size_t length = 0;
    // the range of the second byte; all later ones are 80..BF
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
    if (length > text.size() - at || byte(1) < low || byte(1) > high) return 0;
    for (std::size_t k = 2; k < length; ++k)
        if (byte(k) < 0x80 || byte(k) > 0xBF) return 0;
    return length;
}

bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto length = utf8_length(text, at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

DecodedPoint first_code_point(std::string_view text) {
    constexpr char32_t kReplacement = 0xFFFD;
    const auto length = utf8_length(text, 0);
    if (length == 0) return {kReplacement, 1};
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    if (length == 1) return {byte(0), 1};
    char32_t point = byte(0) & (0x7FU >> length);
    for (std::size_t k = 1; k < length; ++k) point = (point << 6U) | (byte(k) & 0x3FU);
    return {point, length};
}

void append_utf8(std::string& text, char32_t point) {
    const auto put = [&text](char32_t byte) { text += static_cast<char>(byte); };
    const auto put_tail = [&](unsigned shift) { put(0x80U | ((point >> shift) & 0x3FU)); };
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0U | (point >> 6U));
        put_tail(0);
    } else if (point < 0x10000) {
        put(0xE0U | (point >> 12U));
        put_tail(6);
        put_tail(0);
    } else {
        put(0xF0U | (point >> 18U));
        put_tail(12);
        put_tail(6);
        put_tail(0);
    }
}

std::string_view utf8_prefix(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    const auto continues = [&](std::size_t at) {
        return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
    };
    while (most > 0 && continues(most)) --most;
    return text.substr(0, most);
}

}  // namespace ballast
