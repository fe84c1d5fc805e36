#include "ballast/engine/plan/rounded.hpp"

#include <gtest/gtest.h>

namespace ballast::plan {
namespace {

TEST(Rounded, GoesToTheNearestAndFromTheMiddleToTheEvenNeighbour) {
    EXPECT_EQ(rounded(625, 100, 1), "6.2");
    EXPECT_EQ(rounded(635, 100, 1), "6.4");
    EXPECT_EQ(rounded(6251, 1000, 1), "6.3");
    EXPECT_EQ(rounded(2, 3, 2), "0.67");
    EXPECT_EQ(rounded(1, 3, 2), "0.33");
    EXPECT_EQ(rounded(5, 2, 0), "2");
    EXPECT_EQ(rounded(7, 2, 0), "4");
}

TEST(Rounded, CarriesIntoTheWholePart) {
    EXPECT_EQ(rounded(9999, 1000, 2), "10.00");
    EXPECT_EQ(rounded(999, 1000, 1), "1.0");
}

TEST(Rounded, WritesAllDigits) {
    EXPECT_EQ(rounded(0, 7, 2), "0.00");
    EXPECT_EQ(rounded(3, 1000, 3), "0.003");
    EXPECT_EQ(rounded(3, 1, 2), "3.00");
}

TEST(Rounded, NothingOfNothingIsZero) { EXPECT_EQ(rounded(0, 0, 1), "0.0"); }

TEST(Rounded, IsExactBeyond64Bits) {
    const auto huge = WideBytes{~std::uint64_t{0}} * 100'000;
    EXPECT_EQ(rounded(huge, 100'000, 1), "18446744073709551615.0");
    EXPECT_EQ(rounded(huge + 1, huge, 8), "1.00000000");
}

}  // namespace
}  // namespace ballast::plan
