#include "ballast/engine/formats/header_scanner.hpp"

#include <limits>

namespace ballast::formats {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, std::uint32_t point) {
    const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0U | (point >> 6U));
        put(0x80U | (point & 0x3FU));
    } else if (point < 0x10000) {
        put(0xE0U | (point >> 12U));
        put(0x80U | ((point >> 6U) & 0x3FU));
        put(0x80U | (point & 0x3FU));
    } else {
        put(0xF0U | (point >> 18U));
        put(0x80U | ((point >> 12U) & 0x3FU));
        put(0x80U | ((point >> 6U) & 0x3FU));
        put(0x80U | (point & 0x3FU));
    }
}

/// Well-formed by the Unicode standard, table 3-7.
bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        if (lead < 0x80) {
            ++i;
            continue;
        }
        std::size_t length = 0;
        unsigned char low = 0x80;
        unsigned char high = 0xBF;
        if (lead >= 0xC2 && lead <= 0xDF) length = 2;
        if (lead >= 0xE0 && lead <= 0xEF) length = 3;
        if (lead >= 0xF0 && lead <= 0xF4) length = 4;
        if (lead == 0xE0) low = 0xA0;
        if (lead == 0xED) high = 0x9F;
        if (lead == 0xF0) low = 0x90;
        if (lead == 0xF4) high = 0x8F;
        if (length == 0 || length > text.size() - i) return false;
        for (std::size_t k = 1; k < length; ++k) {
            const auto byte = static_cast<unsigned char>(text[i + k]);
            if (byte < low || byte > high) return false;
            low = 0x80;
            high = 0xBF;
        }
        i += length;
    }
    return true;
}

}  // namespace

bool HeaderScanner::fail(std::string why) {
    if (fault_.empty()) fault_ = std::move(why);
    return false;
}

void HeaderScanner::skip_white_space() {
    while (position_ < text_.size()) {
        const char c = text_[position_];
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
        ++position_;
    }
}

bool HeaderScanner::accept(char c) {
    if (has_failed()) return false;
    skip_white_space();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
}

bool HeaderScanner::expect(char c) {
    if (has_failed()) return false;
    if (accept(c)) return true;
    return fail(std::string("'") + c + "' was expected");
}

bool HeaderScanner::is_at_end() {
    skip_white_space();
    return position_ >= text_.size();
}

bool HeaderScanner::string(std::string& out) {
    out.clear();
    if (!expect('"')) return false;
    const auto begin = position_;
    while (position_ < text_.size()) {
        const auto c = static_cast<unsigned char>(text_[position_]);
        if (c == '"') {
            if (!is_utf8({text_.data() + begin, position_ - begin}))
                return fail("a text is not valid UTF-8");
            ++position_;
            return true;
        }
        if (c < 0x20) return fail("a control character inside a text");
        ++position_;
        if (c != '\\') {
            out += static_cast<char>(c);
        } else if (!escape(out)) {
            return false;
        }
    }
    return fail("a text without an end");
}

bool HeaderScanner::escape(std::string& out) {
    if (position_ >= text_.size()) return fail("a text without an end");
    const char c = text_[position_++];
    switch (c) {
        case '"':
        case '\\':
        case '/': out += c; return true;
        case 'b': out += '\b'; return true;
        case 'f': out += '\f'; return true;
        case 'n': out += '\n'; return true;
        case 'r': out += '\r'; return true;
        case 't': out += '\t'; return true;
        case 'u': break;
        default: return fail("an unknown escape");
    }
    std::uint32_t point = 0;
    if (!four_hex(point)) return false;
    if (point >= 0xDC00 && point <= 0xDFFF) return fail("half of a surrogate pair");
    if (point >= 0xD800 && point <= 0xDBFF) {
        std::uint32_t low = 0;
        if (text_.substr(position_, 2) != "\\u") return fail("half of a surrogate pair");
        position_ += 2;
        if (!four_hex(low)) return false;
        if (low < 0xDC00 || low > 0xDFFF) return fail("half of a surrogate pair");
        point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
    }
    append_utf8(out, point);
    return true;
}

bool HeaderScanner::four_hex(std::uint32_t& out) {
    out = 0;
    for (int i = 0; i < 4; ++i) {
        const char c = position_ < text_.size() ? text_[position_] : '\0';
        std::uint32_t digit = 0;
        if (is_digit(c)) {
            digit = static_cast<std::uint32_t>(c - '0');
        } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
            digit = (static_cast<std::uint32_t>(c) | 0x20U) - 'a' + 10;
        } else {
            return fail("an escape without four hexadecimal digits");
        }
        out = out * 16 + digit;
        ++position_;
    }
    return true;
}

bool HeaderScanner::unsigned_integer(std::uint64_t& out) {
    if (has_failed()) return false;
    skip_white_space();
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    out = 0;
    const auto begin = position_;
    while (position_ < text_.size() && is_digit(text_[position_])) {
        const auto digit = static_cast<std::uint64_t>(text_[position_] - '0');
        if (out > (kMost - digit) / 10) return fail("a number beyond 64 bits");
        out = out * 10 + digit;
        ++position_;
    }
    const auto length = position_ - begin;
    if (length == 0) {
        const bool is_negative = position_ < text_.size() && text_[position_] == '-';
        return fail(is_negative ? "a negative number" : "a whole number was expected");
    }
    if (length > 1 && text_[begin] == '0') return fail("a number with leading zeros");
    if (position_ < text_.size()) {
        const char next = text_[position_];
        if (next == '.' || next == 'e' || next == 'E') return fail("a number that is not whole");
    }
    return true;
}

bool HeaderScanner::integers(std::vector<std::uint64_t>& out, std::size_t most) {
    out.clear();
    if (!expect('[')) return false;
    if (accept(']')) return true;
    do {
        std::uint64_t value = 0;
        if (!unsigned_integer(value)) return false;
        if (out.size() == most) return fail("a list with too many numbers");
        out.push_back(value);
    } while (accept(','));
    return expect(']');
}

}  // namespace ballast::formats
