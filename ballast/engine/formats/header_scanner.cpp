#include "ballast/engine/formats/header_scanner.hpp"

#include <array>
#include <limits>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/engine/core/utf8.hpp"

namespace ballast::formats {
namespace {

/// True for the bytes that need no thought inside a string: ASCII but quotes, backslashes and
/// control characters.
constexpr auto kIsPlain = [] {
    std::array<bool, 256> plain{};
    for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
    return plain;
}();

/// The first byte at or behind `at` that is not plain.
std::size_t behind_plain(std::string_view text, std::size_t at) {
    while (at < text.size() && kIsPlain[static_cast<unsigned char>(text[at])]) ++at;
    return at;
}

}  // namespace

bool HeaderScanner::fail_at(std::size_t position, std::string why) {
    if (has_failed()) return false;
    fault_ = std::move(why);
    position_ = position;
    return false;
}

bool HeaderScanner::fail_expecting(char c) {
    if (position_ >= text_.size()) return fail(std::string("it ends where '") + c + "' should be");
    return fail(std::string("'") + c + "' is expected");
}

bool HeaderScanner::string(std::string_view& out) {
    if (!expect('"')) return false;
    std::string* copy = nullptr;  // needed from the first escape on
    auto uncopied = position_;
    const auto rest = [&] { return text_.substr(uncopied, position_ - uncopied); };
    while ((position_ = behind_plain(text_, position_)) < text_.size()) {
        const auto c = static_cast<unsigned char>(text_[position_]);
        if (c == '"') {
            out = copy == nullptr ? rest() : copy->append(rest());
            ++position_;
            return true;
        }
        if (c == '\\') {
            if (copy == nullptr) copy = &resolved_.emplace_front();
            copy->append(rest());
            if (!escape(*copy)) return false;
            uncopied = position_;
            continue;
        }
        if (c < 0x20) return fail("a control character stands unescaped in a string");
        const auto length = utf8_length(text_, position_);
        if (length == 0) return fail("a string is not valid UTF-8");
        position_ += length;
    }
    return fail("a string has no end");
}

bool HeaderScanner::escape(std::string& out) {
    const auto begin = position_;
    ++position_;  // the backslash
    if (position_ >= text_.size()) return fail("a string has no end");
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
        default: return fail_at(begin, "an escape in a string is unknown");
    }
    char32_t point = 0;
    if (!four_hex(point)) return false;
    const bool is_surrogate = point >= 0xD800 && point <= 0xDFFF;
    if (is_surrogate) return surrogate_pair(point, out) || fail_at(begin, "half a surrogate pair");
    append_utf8(out, point);
    return true;
}

bool HeaderScanner::surrogate_pair(char32_t high, std::string& out) {
    if (high > 0xDBFF || text_.substr(position_, 2) != "\\u") return false;
    position_ += 2;
    char32_t low = 0;
    if (!four_hex(low) || low < 0xDC00 || low > 0xDFFF) return false;
    append_utf8(out, 0x10000 + ((high - 0xD800) << 10U) + (low - 0xDC00));
    return true;
}

bool HeaderScanner::four_hex(char32_t& out) {
    out = 0;
    for (int i = 0; i < 4; ++i, ++position_) {
        const char c = position_ < text_.size() ? text_[position_] : '\0';
        const char lower = static_cast<char>(c | 0x20);
        if (is_digit(c)) {
            out = out * 16 + static_cast<char32_t>(c - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            out = out * 16 + static_cast<char32_t>(lower - 'a' + 10);
        } else {
            return fail("\\u without four hexadecimal digits");
        }
    }
    return true;
}

bool HeaderScanner::unsigned_integer(std::uint64_t& out) {
    skip_white_space();
    if (has_failed()) return false;
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    const auto begin = position_;
    out = 0;
    for (; position_ < text_.size() && is_digit(text_[position_]); ++position_) {
        const auto digit = static_cast<std::uint64_t>(text_[position_] - '0');
        if (out > (kMost - digit) / 10) return fail_at(begin, "a number is beyond 64 bits");
        out = out * 10 + digit;
    }
    const char next = position_ < text_.size() ? text_[position_] : '\0';
    if (position_ == begin)
        return fail(next == '-' ? "a number is negative" : "a whole number is expected");
    if (next == '.' || next == 'e' || next == 'E') return fail_at(begin, "a number is not whole");
    if (position_ - begin > 1 && text_[begin] == '0')
        return fail_at(begin, "a number has leading zeros");
    return true;
}

}  // namespace ballast::formats
