#pragma once
// The order of names as people number them.

#include <string_view>

namespace ballast::plan {

/// Digit runs count by value, so that block 2 comes before block 10. The model order of files whose
/// family is unknown.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace ballast::plan
