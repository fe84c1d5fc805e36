#include "ballast/runtime/text/python_float.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <limits>
#include <string>

namespace ballast::runtime::text {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(PythonFloat, AcceptsWhatPythonAccepts) {
    EXPECT_EQ(parse_python_float("1.3"), 1.3);
    EXPECT_EQ(parse_python_float(" \t1.3\n"), 1.3);
    EXPECT_EQ(parse_python_float("\u00A01.3\u3000"), 1.3);
    EXPECT_EQ(parse_python_float(".5"), 0.5);
    EXPECT_EQ(parse_python_float("5."), 5.0);
    EXPECT_EQ(parse_python_float("+1.5"), 1.5);
    EXPECT_EQ(parse_python_float("-1"), -1.0);
    EXPECT_EQ(parse_python_float("1e1"), 10.0);
    EXPECT_EQ(parse_python_float("1E-2"), 0.01);
    EXPECT_EQ(parse_python_float("1.e+2"), 100.0);
    EXPECT_EQ(parse_python_float("1_0"), 10.0);
    EXPECT_EQ(parse_python_float("1_0.0_5e0_1"), 100.5);
    EXPECT_EQ(parse_python_float("007"), 7.0);
}

TEST(PythonFloat, RefusesWhatPythonRefuses) {
    for (const auto* text :
         {"",     " ",   "b",  "1.2.3",  "1,2",     "--1", "+-1",  "1e",   "1e+",
          "e1",   ".",   "-",  "1__0",   "_1",      "1_",  "1_.0", "1._0", "1_e1",
          "0x10", "1 0", "in", "nan(1)", "infinit", "1f",  "\xFF", "\xC2"})
        EXPECT_EQ(parse_python_float(text), std::nullopt) << text;
}

TEST(PythonFloat, ReadsDigitsOfAllScripts) {
    EXPECT_EQ(parse_python_float("\uFF11.\uFF15"), 1.5);    // full width
    EXPECT_EQ(parse_python_float("\u0661\u0662"), 12.0);    // Arabic-Indic
    EXPECT_EQ(parse_python_float("\U0001D7D9"), 1.0);       // double-struck
    EXPECT_EQ(parse_python_float("\u00B2"), std::nullopt);  // a superscript is no decimal digit
    EXPECT_EQ(parse_python_float("1\uFF0E5"), std::nullopt);
}

TEST(PythonFloat, KnowsInfinityAndNan) {
    EXPECT_EQ(parse_python_float("inf"), kInfinity);
    EXPECT_EQ(parse_python_float("-Infinity"), -kInfinity);
    EXPECT_TRUE(std::isnan(parse_python_float("+NaN").value()));
}

TEST(PythonFloat, GoesToInfinityOrZeroBeyondTheRange) {
    EXPECT_EQ(parse_python_float("1e999"), kInfinity);
    EXPECT_EQ(parse_python_float("-1e999"), -kInfinity);
    EXPECT_EQ(parse_python_float("1e-999"), 0.0);
    EXPECT_EQ(parse_python_float("0.000001e99999999999999999999"), kInfinity);
    EXPECT_EQ(parse_python_float("1000000e-99999999999999999999"), 0.0);
    EXPECT_EQ(parse_python_float(std::string(400, '9')), kInfinity);
    EXPECT_EQ(parse_python_float("0." + std::string(400, '0') + "1"), 0.0);
    EXPECT_EQ(parse_python_float("0e99999999999999999999"), 0.0);
    EXPECT_EQ(parse_python_float("5e-324"), 5e-324);
}

}  // namespace
}  // namespace ballast::runtime::text
