#pragma once
// Numbers as Python reads them from ASCII text: what workflows and prompts are made with. Blanks
// around the number, and digits of other scripts, are the caller's business.

#include <optional>
#include <string>
#include <string_view>

namespace ballast {

/// `text` without the single underscores that may stand between two digits; nothing if one stands
/// elsewhere.
std::optional<std::string> without_digit_separators(std::string_view text);

/// float(text): a sign, digits with single underscores between them, a fraction, an exponent, or
/// "inf", "infinity" and "nan" in any case. Too large becomes infinite, too small becomes zero.
/// Nothing if Python would raise.
std::optional<double> parse_python_float(std::string_view text);

}  // namespace ballast
