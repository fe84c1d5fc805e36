#pragma once
// The syntax of prompt weights: (text) multiplies by 1.1, (text:1.4) sets, \( and \) are literal.

#include <string>
#include <string_view>
#include <vector>

namespace ballast::runtime::text {

/// A run of text with one weight. Escapes are resolved.
struct WeightedText {
    std::string text;
    double weight = 1.0;

    bool operator==(const WeightedText&) const = default;
};

/// Cuts a prompt at its parentheses.
///
/// `(x)` multiplies the weight of x by 1.1 per level; `(x:w)` gives x the weight w whatever
/// surrounds it, if the text behind the last colon is a number for Python's float() and the colon
/// is not the first character. Parentheses without a partner are text; but what runs from an
/// unclosed one to the end of its surroundings counts as a level if it ends in a closing one.
/// A closing parenthesis that nothing opened takes back the next opening one. Weights are not
/// limited: negative, zero, infinite and nan pass. Linear in the length, at any depth of nesting.
std::vector<WeightedText> parse_weights(std::string_view prompt);

}  // namespace ballast::runtime::text
