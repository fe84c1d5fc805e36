#include "ballast/runtime/sampling/schedules/incomplete_beta.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace ballast::runtime::sampling {
namespace {

TEST(IncompleteBeta, HasItsClosedForms) {
    for (const double x : {0.0, 1e-9, 0.1, 0.37, 0.5, 0.8, 0.999999, 1.0}) {
        EXPECT_NEAR(incomplete_beta(1.0, 1.0, x), x, 1e-14);
        EXPECT_NEAR(incomplete_beta(2.0, 1.0, x), x * x, 1e-14);
        EXPECT_NEAR(incomplete_beta(1.0, 3.0, x), 1.0 - std::pow(1.0 - x, 3.0), 1e-14);
        EXPECT_NEAR(incomplete_beta(0.5, 0.5, x), std::asin(std::sqrt(x)) * 2.0 / std::numbers::pi,
                    1e-13);
    }
}

TEST(IncompleteBeta, IsSymmetric) {
    for (const double x : {0.01, 0.2, 0.5, 0.77})
        EXPECT_NEAR(incomplete_beta(0.6, 2.5, x), 1.0 - incomplete_beta(2.5, 0.6, 1.0 - x), 1e-14);
}

TEST(IncompleteBeta, IsUndoneByItsInverse) {
    for (const double a : {0.3, 0.6, 1.0, 4.0})
        for (const double b : {0.6, 1.0, 2.0, 7.5})
            for (const double p : {1e-6, 0.01, 0.2, 0.5, 0.7, 0.99}) {
                const double x = inverse_incomplete_beta(a, b, p);
                EXPECT_GT(x, 0.0);
                EXPECT_LT(x, 1.0);
                EXPECT_NEAR(incomplete_beta(a, b, x), p, 1e-12) << a << " " << b;
            }
}

TEST(IncompleteBeta, HasAnExactInverseWhereRoundingWouldShow) {
    EXPECT_EQ(inverse_incomplete_beta(0.6, 0.6, 0.5), 0.5);
    EXPECT_EQ(inverse_incomplete_beta(0.6, 0.6, 0.0), 0.0);
    EXPECT_EQ(inverse_incomplete_beta(0.6, 0.6, 1.0), 1.0);
}

}  // namespace
}  // namespace ballast::runtime::sampling
