#pragma once
// Numbers as the reference's prompt syntax accepts them: whatever Python's float() does.

#include <optional>
#include <string_view>

namespace ballast::runtime::text {

/// float(text): surrounding white space, a sign, decimal digits of any script, single underscores
/// between digits, an exponent, "inf", "infinity" and "nan" in any case. Too large becomes
/// infinite, too small becomes zero. Nothing if Python would raise. Independent of the locale.
std::optional<double> parse_python_float(std::string_view text);

}  // namespace ballast::runtime::text
