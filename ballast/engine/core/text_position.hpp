#pragma once
// Places in a text as people count them.

#include <cstddef>
#include <string>
#include <string_view>

namespace ballast {

/// "line 3, column 7" of the byte at `offset`, both from 1; of the end for what lies beyond it.
std::string line_and_column(std::string_view text, std::size_t offset);

}  // namespace ballast
