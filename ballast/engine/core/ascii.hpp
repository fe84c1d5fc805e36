#pragma once
// The ASCII characters, whatever the locale says; bytes beyond them belong to no class.

#include <string>
#include <string_view>

namespace ballast {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What may stand in a name: letters, digits, underscore.
constexpr bool is_word_character(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
inline std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = lower(c);
    return result;
}

/// Without the blanks (space, tab, line ends, vertical tab, form feed) at both ends.
constexpr std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\n\r\v\f";
    const auto first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace ballast
