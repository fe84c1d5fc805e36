#include "ballast/engine/core/bytes.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ballast {
namespace {

using namespace ballast::literals;

constexpr Bytes kMost{std::numeric_limits<std::uint64_t>::max()};

Error refusal(std::string_view text) {
    const auto parsed = parse_bytes(text);
    EXPECT_FALSE(parsed.has_value()) << text;
    if (parsed) return {};
    EXPECT_EQ(parsed.error().code, Code::usage);
    EXPECT_TRUE(parsed.error().place.column.has_value());
    EXPECT_FALSE(parsed.error().hint.empty());
    return parsed.error();
}

TEST(Bytes, SumsSaturateInsteadOfWrapping) {
    EXPECT_EQ(2_KiB + 3_B, Bytes{2051});
    EXPECT_EQ(kMost + 1_B, kMost);
    EXPECT_EQ(kMost + kMost, kMost);
    EXPECT_EQ(Bytes{kMost.count() - 1} + 1_B, kMost);
}

TEST(Bytes, DifferencesStopAtZero) {
    EXPECT_EQ((5_B).minus_or_zero(3_B), 2_B);
    EXPECT_EQ((3_B).minus_or_zero(5_B), 0_B);
}

TEST(Bytes, ProductsSaturate) {
    EXPECT_EQ((3_GiB).times(2), 6_GiB);
    EXPECT_EQ((3_GiB).times(0), 0_B);
    EXPECT_EQ(kMost.times(2), kMost);
    EXPECT_EQ(Bytes{1ULL << 63U}.times(2), kMost);
}

TEST(Bytes, AreComparedByCount) {
    EXPECT_LT(1_KiB, 1025_B);
    EXPECT_EQ(1_MiB, 1024_KiB);
    EXPECT_TRUE(Bytes{}.is_zero());
}

TEST(Bytes, AreShownInTheLargestFittingUnit) {
    EXPECT_EQ(to_string(0_B), "0 B");
    EXPECT_EQ(to_string(1023_B), "1023 B");
    EXPECT_EQ(to_string(1_KiB), "1.00 KiB");
    EXPECT_EQ(to_string(1536_KiB), "1.50 MiB");
    EXPECT_EQ(to_string(Bytes{(1_GiB).count() - 1}), "1.00 GiB") << "never 1024.00 MiB";
    EXPECT_EQ(to_string(Bytes{(1_GiB).count() - 10'000'000}), "1014.46 MiB");
    EXPECT_EQ(to_string(kMost), "16384.00 PiB");
}

TEST(ParseBytes, ReadsPlainNumbersExactly) {
    EXPECT_EQ(*parse_bytes("0"), 0_B);
    EXPECT_EQ(*parse_bytes("1073741824"), 1_GiB);
    EXPECT_EQ(*parse_bytes("9007199254740993"), Bytes{9007199254740993}) << "beyond 2^53";
    EXPECT_EQ(*parse_bytes("512b"), 512_B);
    EXPECT_EQ(*parse_bytes("4.0"), 4_B);
}

TEST(ParseBytes, ReadsUnitsInEveryUsualSpelling) {
    for (const auto* text : {"2g", "2G", "2gb", "2GB", "2GiB", " 2 gib ", "2048m", "2097152 KiB"})
        EXPECT_EQ(*parse_bytes(text), 2_GiB) << text;
    EXPECT_EQ(*parse_bytes("1.5gb"), 1536_MiB);
    EXPECT_EQ(*parse_bytes(".5k"), 512_B);
    EXPECT_EQ(*parse_bytes("1t"), 1024_GiB);
    EXPECT_EQ(*parse_bytes("0.3kb"), 307_B) << "rounded down";
}

TEST(ParseBytes, RefusesWhatIsNoAmount) {
    EXPECT_EQ(refusal("").why, "'': empty");
    EXPECT_EQ(refusal("   ").why, "'   ': empty");
    EXPECT_EQ(refusal("gb").why, "'gb': no number");
    EXPECT_EQ(refusal("nan").why, "'nan': no number");
    EXPECT_EQ(refusal("inf gb").why, "'inf gb': no number");
    EXPECT_EQ(refusal("-1gb").why, "'-1gb': negative");
    EXPECT_EQ(refusal("-0").why, "'-0': negative");
    EXPECT_EQ(refusal("2,5gb").why, "'2,5gb': unknown unit ',5gb'");
    EXPECT_EQ(refusal("1e9").why, "'1e9': unknown unit 'e9'");
    EXPECT_EQ(refusal("2gigs").why, "'2gigs': unknown unit 'gigs'");
    EXPECT_EQ(refusal("50%").why, "'50%': unknown unit '%'");
    EXPECT_EQ(refusal("1 5gb").why, "'1 5gb': unknown unit '5gb'") << "two numbers, not fifteen";
    EXPECT_EQ(refusal("2g b").why, "'2g b': unknown unit 'g b'");
    EXPECT_EQ(refusal("1.5").why, "'1.5': part of a byte");
    EXPECT_EQ(refusal("9223372036854775808").why, "'9223372036854775808': too large");
    EXPECT_EQ(refusal("9999999999t").why, "'9999999999t': too large");
}

TEST(ParseBytes, PointsAtTheValue) {
    EXPECT_EQ(refusal("  x").place.column, 3U);
    EXPECT_EQ(refusal("5x").place.column, 1U);
    EXPECT_EQ(refusal("").place.column, 1U);
}

TEST(ParseBytes, ReadsBackWhatIsShown) {
    for (const auto bytes : {0_B, 1023_B, 1_KiB, 1536_KiB, 3_GiB})
        EXPECT_EQ(*parse_bytes(to_string(bytes)), bytes);
}

}  // namespace
}  // namespace ballast
