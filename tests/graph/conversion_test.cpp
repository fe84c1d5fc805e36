#include "ballast/graph/conversion.hpp"

#include <cfloat>

#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

using testing::json;

constexpr std::uint64_t kLargest = 18446744073709551615U;

TEST(Conversion, OfNumbersToIntegersDropsTheFraction) {
    EXPECT_EQ(to_integer(16.9), Json(16));
    EXPECT_EQ(to_integer(-16.9), Json(-16));
    EXPECT_EQ(to_integer(-0.5), Json(0));
    EXPECT_EQ(to_integer(true), Json(1));
    EXPECT_EQ(to_integer(kLargest)->get<std::uint64_t>(), kLargest);
    EXPECT_EQ(to_integer(json("-9223372036854775808"))->dump(), "-9223372036854775808");
}

TEST(Conversion, OfTextToIntegersTakesSignsAndBlanks) {
    EXPECT_EQ(to_integer("16"), Json(16));
    EXPECT_EQ(to_integer(" \t-7\n"), Json(-7));
    EXPECT_EQ(to_integer("+007"), Json(7));
    EXPECT_EQ(to_integer("1_000"), Json(1000));
    EXPECT_EQ(to_integer("-0"), Json(0));
    EXPECT_EQ(to_integer("18446744073709551615")->get<std::uint64_t>(), kLargest);
    EXPECT_EQ(to_integer("-9223372036854775808")->dump(), "-9223372036854775808");
    for (const char* text : {"", " ", "-", "+-1", "16.0", "1e3", "0x10", "wide", "1 2", "_1", "1_",
                             "1__0", "inf", "nan"})
        EXPECT_FALSE(to_integer(text)) << text;
}

TEST(Conversion, OfOtherThingsToIntegersFails) {
    EXPECT_FALSE(to_integer(nullptr));
    EXPECT_FALSE(to_integer(json(R"({"a":1})")));
    EXPECT_FALSE(to_integer(std::numeric_limits<double>::quiet_NaN()));
}

TEST(Conversion, LeavesWhatSixtyFourBitsCannotHoldToTheRangeCheck) {
    for (const Json& huge : {Json("18446744073709551616"), Json(1e20), Json(std::string(400, '9')),
                             Json(std::numeric_limits<double>::infinity())}) {
        const auto integer = to_integer(huge);
        ASSERT_TRUE(integer);
        EXPECT_TRUE(compare(*integer, kLargest) > 0);
        EXPECT_TRUE(std::isfinite(integer->get<double>()));
    }
    for (const Json& low :
         {Json("-9223372036854775809"), Json(-1e20), Json("-" + std::string(400, '9'))})
        EXPECT_TRUE(compare(*to_integer(low), std::numeric_limits<std::int64_t>::min()) < 0);
}

TEST(Conversion, ComparesIntegersOfAnySign) {
    EXPECT_TRUE(compare(Json(-1), 0) < 0);
    EXPECT_TRUE(compare(Json(-1), kLargest) < 0);
    EXPECT_TRUE(compare(Json(kLargest), -1) > 0);
    EXPECT_TRUE(compare(Json(-5), -4) < 0);
    EXPECT_TRUE(compare(Json(5), 5) == 0);
}

TEST(Conversion, OfTextToNumbers) {
    EXPECT_EQ(to_number("0.25"), Json(0.25));
    EXPECT_EQ(to_number(" -1e-3 "), Json(-0.001));
    EXPECT_EQ(to_number("+.5"), Json(0.5));
    EXPECT_EQ(to_number("5."), Json(5.0));
    EXPECT_EQ(to_number("1_0.5"), Json(10.5));
    EXPECT_EQ(to_number("1e-999"), Json(0.0));
    for (const char* text : {"", "half", "1e", "0x1p3", "--1", "+-1", "1,5", "nan", "-NaN"})
        EXPECT_FALSE(to_number(text)) << text;
}

TEST(Conversion, OfTextsBeyondAnyDoubleLooksAtTheWholeNumber) {
    const std::string zeros(400, '0');
    EXPECT_EQ(to_number("0." + zeros + "1"), Json(0.0));
    EXPECT_EQ(to_number("1" + zeros + "e-5"), Json(DBL_MAX));
    EXPECT_EQ(to_number("-1" + zeros + "e-5"), Json(-DBL_MAX));
    EXPECT_EQ(to_number("0." + zeros + "1e+50"), Json(0.0));
    EXPECT_EQ(to_number("Infinity"), Json(DBL_MAX));
    EXPECT_FALSE(to_number("nan(1)"));
}

TEST(Conversion, OfNumbersToNumbers) {
    EXPECT_TRUE(to_number(1)->is_number_float());
    EXPECT_EQ(to_number(true), Json(1.0));
    EXPECT_FALSE(to_number(nullptr));
    EXPECT_FALSE(to_number(std::numeric_limits<double>::quiet_NaN()));
    EXPECT_EQ(to_number("inf"), Json(DBL_MAX));
    EXPECT_EQ(to_number("-1e999"), Json(-DBL_MAX));
}

TEST(Conversion, ToText) {
    EXPECT_EQ(to_text(12), Json("12"));
    EXPECT_EQ(to_text("a"), Json("a"));
    EXPECT_EQ(to_text(nullptr), Json("None"));
}

TEST(Conversion, ToTruthValues) {
    for (const Json& value : {Json(true), Json(1), Json(-1), Json(0.5), Json("false"), json("[0]")})
        EXPECT_EQ(to_flag(value), Json(true)) << value;
    for (const Json& value :
         {Json(false), Json(0), Json(0.0), Json(""), Json(), json("[]"), json("{}")})
        EXPECT_EQ(to_flag(value), Json(false)) << value;
}

}  // namespace
}  // namespace ballast::graph
