#include "ballast/engine/plan/rounded.hpp"

namespace ballast::plan {

std::string rounded(WideBytes numerator, WideBytes denominator, unsigned decimals) {
    if (denominator == 0) denominator = 1;
    WideBytes scaled = numerator;
    for (unsigned i = 0; i < decimals; ++i) scaled *= 10;
    auto quotient = scaled / denominator;
    const auto rest = scaled % denominator;
    const auto to_middle = denominator - rest;
    if (rest > to_middle || (rest == to_middle && quotient % 2 == 1)) ++quotient;
    auto text = Wide{quotient}.text();
    if (decimals == 0) return text;
    if (text.size() <= decimals) text.insert(0, decimals + 1 - text.size(), '0');
    text.insert(text.size() - decimals, 1, '.');
    return text;
}

}  // namespace ballast::plan
