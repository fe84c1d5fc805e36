#pragma once
// Unicode as the tokenizers of the reference see it: Python's strings, over the tables of utf8proc.

#include <optional>
#include <string>
#include <string_view>

namespace ballast::runtime::text {

/// The code points of `utf8`. Every byte that begins no well-formed sequence becomes U+FFFD.
std::u32string decode_utf8(std::string_view utf8);

std::string encode_utf8(std::u32string_view text);

bool is_letter(char32_t c);           ///< general category L*
bool is_number(char32_t c);           ///< general category N*
bool is_other(char32_t c);            ///< general category C*: control, format, private, unassigned
bool is_space_separator(char32_t c);  ///< general category Zs
bool is_white_space(char32_t c);      ///< what str.split() splits at
bool is_cjk_ideograph(char32_t c);    ///< the blocks of unified and compatibility ideographs

/// 0..9 for a decimal digit of any script.
std::optional<int> decimal_digit(char32_t c);

/// Normalization form C. Linear but for runs of combining marks, which cost n log n.
std::u32string to_nfc(std::u32string_view text);

/// str.lower(): full lower-casing, a capital sigma at the end of a word becomes the final one.
std::u32string to_lower(std::u32string_view text);

}  // namespace ballast::runtime::text
