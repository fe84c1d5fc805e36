#pragma once
// Exact fractions as decimal text.

#include <string>

#include "ballast/engine/plan/wide.hpp"

namespace ballast::plan {

/// `numerator` / `denominator` with `decimals` digits behind the point, as printf and Python write
/// exact values: to the nearest, and to the even neighbour from the middle (6.25 is "6.2"). Whole
/// numbers only, so that every machine prints the same. Nothing of nothing is zero. The numerator
/// may have 100 bits, `decimals` at most 8.
std::string rounded(WideBytes numerator, WideBytes denominator, unsigned decimals);

}  // namespace ballast::plan
