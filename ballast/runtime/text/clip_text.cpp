#include "ballast/runtime/text/clip_text.hpp"

#include <algorithm>
#include <array>

#include "ballast/runtime/text/unicode.hpp"

namespace ballast::runtime::text {

namespace {

std::u32string without_controls(std::u32string_view text) {
    std::u32string clean;
    clean.reserve(text.size());
    for (const char32_t c : text) {
        if (c == '\t' || c == '\n' || c == '\r' || is_space_separator(c)) {
            clean += U' ';
        } else if (c == 0xFFFD || is_other(c)) {
            continue;
        } else if (is_cjk_ideograph(c)) {
            clean += U' ';
            clean += c;
            clean += U' ';
        } else {
            clean += c;
        }
    }
    return clean;
}

/// Lower-cases word by word: whether a sigma is final depends on its own word alone.
std::u32string lower_words(std::u32string_view text) {
    std::u32string lower;
    lower.reserve(text.size());
    for (auto begin = text.begin(); begin != text.end();) {
        const auto word = std::find_if_not(begin, text.end(), is_white_space);
        const auto end = std::find_if(word, text.end(), is_white_space);
        if (word != end) {
            if (!lower.empty()) lower += U' ';
            lower += to_lower({word, end});
        }
        begin = end;
    }
    return lower;
}

/// Length of the special token or contraction at the start of `text`, 0 if there is none.
std::size_t fixed_piece(std::u32string_view text) {
    constexpr std::array<std::u32string_view, 10> kFixed{
        U"<|startoftext|>",
        U"<|endoftext|>",
        U"'s",
        U"'\u017F",
        U"'t",
        U"'re",
        U"'ve",
        U"'m",
        U"'ll",
        U"'d"};  // the long s is an s when case does not count
    for (const auto piece : kFixed)
        if (text.starts_with(piece)) return piece.size();
    return 0;
}

/// White space, and the iota subscript: a mark whose capital is a letter, so that the original's
/// pattern, which does not look at case, takes it neither for a letter nor for anything else.
bool is_gap(char32_t c) { return is_white_space(c) || c == 0x345; }

bool is_symbol(char32_t c) { return !is_letter(c) && !is_number(c) && !is_gap(c); }

std::size_t run(std::u32string_view text, bool (*belongs)(char32_t)) {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), belongs) -
                                    text.begin());
}

void add_pieces(std::string_view plain, std::vector<std::string>& pieces) {
    const auto text = lower_words(to_nfc(without_controls(decode_utf8(plain))));
    std::u32string_view rest = text;
    while (!rest.empty()) {
        if (is_gap(rest.front())) {
            rest.remove_prefix(1);
            continue;
        }
        auto length = fixed_piece(rest);
        if (length == 0) length = run(rest, is_letter);
        if (length == 0) length = is_number(rest.front()) ? 1 : run(rest, is_symbol);
        pieces.push_back(encode_utf8(rest.substr(0, length)));
        rest.remove_prefix(length);
    }
}

}  // namespace

std::vector<std::string> clip_pieces(std::string_view text) {
    std::vector<std::string> pieces;
    auto start = text.find(kStartOfText);
    auto end = text.find(kEndOfText);
    std::size_t done = 0;
    while (std::min(start, end) != std::string_view::npos) {
        const auto special = start < end ? kStartOfText : kEndOfText;
        auto& next = start < end ? start : end;
        add_pieces(text.substr(done, next - done), pieces);
        pieces.emplace_back(special);
        done = next + special.size();
        next = text.find(special, done);
    }
    add_pieces(text.substr(done), pieces);
    return pieces;
}

}  // namespace ballast::runtime::text
