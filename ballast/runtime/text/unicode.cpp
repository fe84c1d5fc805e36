#include "ballast/runtime/text/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ballast/engine/core/utf8.hpp"

namespace ballast::runtime::text {

namespace {

constexpr char32_t kCapitalIWithDot = 0x130;
constexpr char32_t kCombiningDotAbove = 0x307;
constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kSmallSigma = 0x3C3;
constexpr char32_t kFinalSigma = 0x3C2;

struct Range {
    char32_t first;
    char32_t last;
};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t c) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [c](const Range& r) { return r.first <= c && c <= r.last; });
}

utf8proc_category_t category(char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

utf8proc_propval_t combining_class(utf8proc_int32_t c) {
    return utf8proc_get_property(c)->combining_class;
}

/// Case_Ignorable of the Unicode standard: D136 there.
bool is_case_ignorable(char32_t c) {
    switch (category(c)) {
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_SK: return true;
        default: break;
    }
    // word breaks MidLetter, MidNumLet and Single_Quote
    constexpr std::u32string_view kMiddles =
        U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
    return kMiddles.find(c) != std::u32string_view::npos;
}

/// Cased of the Unicode standard (D135), for characters that are not case-ignorable.
bool is_cased(char32_t c) {
    switch (category(c)) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT: return true;
        default: break;
    }
    // Other_Uppercase and Other_Lowercase: ordinals, Roman numerals, enclosed letters
    constexpr std::array<Range, 7> kOthers{{{0xAA, 0xAA},
                                            {0xBA, 0xBA},
                                            {0x2160, 0x217F},
                                            {0x24B6, 0x24E9},
                                            {0x1F130, 0x1F149},
                                            {0x1F150, 0x1F169},
                                            {0x1F170, 0x1F189}}};
    return is_in(kOthers, c);
}

/// True when the sigma at `at` closes a word: a cased letter before it and none behind it, with
/// case-ignorable characters passed over.
bool is_final_sigma(std::u32string_view text, std::size_t at) {
    std::size_t before = at;
    while (before > 0 && is_case_ignorable(text[before - 1])) --before;
    if (before == 0 || !is_cased(text[before - 1])) return false;
    std::size_t behind = at + 1;
    while (behind < text.size() && is_case_ignorable(text[behind])) ++behind;
    return behind == text.size() || !is_cased(text[behind]);
}

/// Sorts every run of combining marks by class; equal ones keep their order. utf8proc would
/// exchange neighbours, which a hostile text makes quadratic.
void sort_marks(std::vector<utf8proc_int32_t>& points) {
    struct Mark {
        utf8proc_propval_t combining_class;
        std::size_t place;
        utf8proc_int32_t point;
        auto operator<=>(const Mark&) const = default;
    };
    std::vector<Mark> marks;
    for (std::size_t i = 0; i <= points.size(); ++i) {
        const auto kind = i < points.size() ? combining_class(points[i]) : utf8proc_propval_t{0};
        if (kind != 0) {
            marks.push_back({kind, i, points[i]});
            continue;
        }
        std::sort(marks.begin(), marks.end());
        for (std::size_t k = 0; k < marks.size(); ++k)
            points[i - marks.size() + k] = marks[k].point;
        marks.clear();
    }
}

/// Canonical decomposition of the whole text, in canonical order.
std::vector<utf8proc_int32_t> decompose(std::u32string_view text) {
    std::vector<utf8proc_int32_t> points;
    points.reserve(text.size() + text.size() / 8);
    std::array<utf8proc_int32_t, 32> parts{};
    int last_class = 0;  // of boundaries; unused by canonical decomposition
    for (const char32_t c : text) {
        const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                                   static_cast<utf8proc_ssize_t>(parts.size()),
                                                   UTF8PROC_DECOMPOSE, &last_class);
        if (count > 0 && static_cast<std::size_t>(count) <= parts.size())
            points.insert(points.end(), parts.begin(), parts.begin() + count);
        else
            points.push_back(static_cast<utf8proc_int32_t>(c));
    }
    sort_marks(points);
    return points;
}

}  // namespace

std::u32string decode_utf8(std::string_view utf8) {
    std::u32string text;
    text.reserve(utf8.size());
    while (!utf8.empty()) {
        const auto [point, length] = first_code_point(utf8);
        text += point;
        utf8.remove_prefix(length);
    }
    return text;
}

std::string encode_utf8(std::u32string_view text) {
    std::string utf8;
    utf8.reserve(text.size());
    for (const char32_t c : text) append_utf8(utf8, c);
    return utf8;
}

bool is_letter(char32_t c) {
    const auto kind = category(c);
    return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_number(char32_t c) {
    const auto kind = category(c);
    return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_other(char32_t c) {
    const auto kind = category(c);
    return kind == UTF8PROC_CATEGORY_CN || kind >= UTF8PROC_CATEGORY_CC;
}

bool is_space_separator(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ZS; }

bool is_white_space(char32_t c) {
    if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
    const auto kind = category(c);
    return c == 0x85 || kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL ||
           kind == UTF8PROC_CATEGORY_ZP;
}

bool is_cjk_ideograph(char32_t c) {
    constexpr std::array<Range, 8> kBlocks{{{0x4E00, 0x9FFF},
                                            {0x3400, 0x4DBF},
                                            {0x20000, 0x2A6DF},
                                            {0x2A700, 0x2B73F},
                                            {0x2B740, 0x2B81F},
                                            {0x2B820, 0x2CEAF},
                                            {0xF900, 0xFAFF},
                                            {0x2F800, 0x2FA1F}}};
    return is_in(kBlocks, c);
}

std::optional<int> decimal_digit(char32_t c) {
    if (category(c) != UTF8PROC_CATEGORY_ND) return std::nullopt;
    // the decimal digits of a script are ten neighbours in ascending order
    char32_t first = c;
    while (first > 0 && category(first - 1) == UTF8PROC_CATEGORY_ND) --first;
    return static_cast<int>((c - first) % 10);
}

std::u32string to_nfc(std::u32string_view text) {
    const auto is_ascii = [](char32_t c) { return c < 0x80; };
    if (std::all_of(text.begin(), text.end(), is_ascii)) return std::u32string(text);
    auto points = decompose(text);
    const auto count = utf8proc_normalize_utf32(
        points.data(), static_cast<utf8proc_ssize_t>(points.size()),
        static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
    if (count < 0) return std::u32string(text);  // cannot happen: the options are sound
    return {points.begin(), points.begin() + count};
}

std::u32string to_lower(std::u32string_view text) {
    std::u32string lower;
    lower.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char32_t c = text[i];
        if (c < 0x80) {
            lower += c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
        } else if (c == kCapitalSigma) {
            lower += is_final_sigma(text, i) ? kFinalSigma : kSmallSigma;
        } else if (c == kCapitalIWithDot) {
            lower += U'i';
            lower += kCombiningDotAbove;
        } else {
            lower += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
        }
    }
    return lower;
}

}  // namespace ballast::runtime::text
