#pragma once
// Numbers as the reference's prompt syntax accepts them: whatever Python's float() does.

#include <optional>
#include <string_view>

namespace ballast::runtime::text {

/// float(text): what `ballast::parse_python_float` reads, with white space around it and decimal
/// digits of any script. Nothing if Python would raise. Independent of the locale.
std::optional<double> parse_python_float(std::string_view text);

}  // namespace ballast::runtime::text
