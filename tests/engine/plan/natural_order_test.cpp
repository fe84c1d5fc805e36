#include "ballast/engine/plan/natural_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ballast::plan {
namespace {

using Names = std::vector<std::string>;

TEST(NaturalOrder, ComparesDigitRunsByValue) {
    Names order{"b.10.w", "b.2.w", "b.1.w", "a.w", "b", "b.02.w", "b.99999999999999999999999.w"};
    std::sort(order.begin(), order.end(), natural_less);
    EXPECT_EQ(order, (Names{"a.w", "b", "b.1.w", "b.02.w", "b.2.w", "b.10.w",
                            "b.99999999999999999999999.w"}));
}

TEST(NaturalOrder, IsIrreflexiveAndAsymmetric) {
    const Names all{"", "1", "01", "a", "a1", "a01", "a1b", "a10", "b"};
    for (const auto& a : all)
        for (const auto& b : all) {
            EXPECT_FALSE(natural_less(a, b) && natural_less(b, a)) << a << " " << b;
            EXPECT_EQ(natural_less(a, b) || natural_less(b, a), a != b) << a << " " << b;
        }
}

}  // namespace
}  // namespace ballast::plan
