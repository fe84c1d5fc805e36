#pragma once
// UTF-8, sequence by sequence. Well-formed means table 3-7 of the Unicode standard: no overlong
// forms, no surrogates, nothing beyond U+10FFFF.

#include <cstddef>
#include <string>
#include <string_view>

namespace ballast {

/// Bytes (1 to 4) of the well-formed sequence that begins at `text[at]`; 0 if none begins there.
/// `at` must lie inside `text`.
std::size_t utf8_length(std::string_view text, std::size_t at);

/// Whether all of `text` is well-formed.
bool is_utf8(std::string_view text);

/// A code point and the bytes that it takes.
struct DecodedPoint {
    char32_t point = 0;
    std::size_t length = 0;
};

/// The code point at the beginning of `text`, which must not be empty; U+FFFD and one byte if no
/// well-formed sequence begins there.
DecodedPoint first_code_point(std::string_view text);

/// Appends the encoding of `point`, which must be at most U+10FFFF and no surrogate.
void append_utf8(std::string& text, char32_t point);

/// The longest beginning of well-formed `text` that has at most `most` bytes and splits no
/// sequence.
std::string_view utf8_prefix(std::string_view text, std::size_t most);

}  // namespace ballast
