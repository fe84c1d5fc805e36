#include "ballast/engine/core/python_number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ballast {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(PythonFloat, ReadsWhatPythonReads) {
    EXPECT_EQ(parse_python_float("0.25"), 0.25);
    EXPECT_EQ(parse_python_float("+.5"), 0.5);
    EXPECT_EQ(parse_python_float("-5."), -5.0);
    EXPECT_EQ(parse_python_float("1_0.5e0_1"), 105.0);
    EXPECT_EQ(parse_python_float("-InFinity"), -kInfinity);
    EXPECT_TRUE(std::isnan(parse_python_float("NaN").value_or(0.0)));
}

TEST(PythonFloat, RefusesWhatPythonRefuses) {
    for (const auto* text : {"", "-", ".", "1e", "1e+", "0x1p3", "--1", "+-1", "1,5", "1 2", " 1",
                             "_1", "1_", "1__0", "1_.5", "infinit", "nan(1)", "1f"})
        EXPECT_FALSE(parse_python_float(text).has_value()) << text;
}

TEST(PythonFloat, TellsTooLargeFromTooSmall) {
    const std::string zeros(400, '0');
    EXPECT_EQ(parse_python_float("1e999"), kInfinity);
    EXPECT_EQ(parse_python_float("1e-999"), 0.0);
    EXPECT_EQ(parse_python_float("0." + zeros + "1"), 0.0);
    EXPECT_EQ(parse_python_float("1" + zeros), kInfinity);
    EXPECT_EQ(parse_python_float("1" + zeros + "e-5"), kInfinity);
    EXPECT_EQ(parse_python_float("0." + zeros + "1e5"), 0.0);
    EXPECT_EQ(parse_python_float("1e9223372036854775807"), kInfinity);
    EXPECT_EQ(parse_python_float("1e-9223372036854775808"), 0.0);
    EXPECT_EQ(parse_python_float("-1e99999999999999999999"), -kInfinity);
}

TEST(DigitSeparators, StandBetweenDigitsOnly) {
    EXPECT_EQ(without_digit_separators("1_000"), "1000");
    EXPECT_EQ(without_digit_separators("-7"), "-7");
    for (const auto* text : {"_", "_1", "1_", "1__0", "-_1", "1_e5"})
        EXPECT_FALSE(without_digit_separators(text).has_value()) << text;
}

}  // namespace
}  // namespace ballast
