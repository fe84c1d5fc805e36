#include "ballast/engine/core/utf8.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ballast {
namespace {

using namespace std::string_view_literals;

std::string encoded(char32_t point) {
    std::string text;
    append_utf8(text, point);
    return text;
}

TEST(Utf8, EncodesTheEdgesOfEveryLength) {
    EXPECT_EQ(encoded(0), "\0"sv);
    EXPECT_EQ(encoded(0x7F), "\x7f");
    EXPECT_EQ(encoded(0x80), "\xc2\x80");
    EXPECT_EQ(encoded(0x7FF), "\xdf\xbf");
    EXPECT_EQ(encoded(0x800), "\xe0\xa0\x80");
    EXPECT_EQ(encoded(0xFFFF), "\xef\xbf\xbf");
    EXPECT_EQ(encoded(0x10000), "\xf0\x90\x80\x80");
    EXPECT_EQ(encoded(0x10FFFF), "\xf4\x8f\xbf\xbf");
}

TEST(Utf8, EveryCodePointIsOneWellFormedSequence) {
    for (char32_t point = 0; point <= 0x10FFFF; ++point) {
        if (point >= 0xD800 && point <= 0xDFFF) continue;
        const auto text = encoded(point);
        ASSERT_EQ(utf8_length(text, 0), text.size()) << std::hex << std::uint32_t{point};
        const auto first = first_code_point(text + "!");
        ASSERT_EQ(first.point, point);
        ASSERT_EQ(first.length, text.size());
    }
}

TEST(Utf8, EverythingElseIsNone) {
    for (const auto text :
         {"\x80"sv, "\xbf"sv, "\xc0\x80"sv, "\xc1\xbf"sv, "\xc2"sv, "\xc2\x7f"sv, "\xe0\x9f\xbf"sv,
          "\xe1\x80"sv, "\xe1\x80\x7f"sv, "\xed\xa0\x80"sv, "\xf0\x8f\xbf\xbf"sv, "\xf0\x90\x80"sv,
          "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv, "\xff"sv}) {
        EXPECT_EQ(utf8_length(text, 0), 0U);
        EXPECT_FALSE(is_utf8(text));
        EXPECT_EQ(first_code_point(text).point, char32_t{0xFFFD});
        EXPECT_EQ(first_code_point(text).length, 1U);
    }
}

TEST(Utf8, OfAWholeTextIsWellFormedInEverySequence) {
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8("a\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x8e\xa8"));
    EXPECT_FALSE(is_utf8("a\xc3"));
    EXPECT_FALSE(is_utf8("\xa9 a"));
}

TEST(Utf8, LooksAtTheGivenPlaceOnly) {
    const auto text = "\xff\xe6\xbc\xa2\xc3"sv;
    EXPECT_EQ(utf8_length(text, 1), 3U);
    EXPECT_EQ(utf8_length(text, 2), 0U);
    EXPECT_EQ(utf8_length(text, 4), 0U) << "cut off at the end";
}

TEST(Utf8, APrefixSplitsNoSequence) {
    const auto text = "a\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x8e\xa8"sv;  // 1 + 2 + 3 + 4 bytes
    const std::vector<std::size_t> lengths{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (std::size_t most = 0; most < lengths.size(); ++most)
        EXPECT_EQ(utf8_prefix(text, most).size(), lengths[most]) << most;
}

}  // namespace
}  // namespace ballast
