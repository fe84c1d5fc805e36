#include "ballast/engine/formats/header_scanner.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace ballast::formats {
namespace {

using namespace std::string_view_literals;

std::optional<std::string> string_in(std::string_view text) {
    HeaderScanner scanner(text);
    std::string_view found;
    if (!scanner.string(found) || !scanner.is_at_end()) return std::nullopt;
    return std::string(found);
}

std::string fault_of_string(std::string_view text) {
    HeaderScanner scanner(text);
    std::string_view found;
    EXPECT_FALSE(scanner.string(found)) << text;
    return scanner.fault();
}

std::optional<std::uint64_t> number_in(std::string_view text) {
    HeaderScanner scanner(text);
    std::uint64_t number = 0;
    if (!scanner.unsigned_integer(number) || !scanner.is_at_end()) return std::nullopt;
    return number;
}

TEST(HeaderScanner, ReadsStringsAsTheyStand) {
    EXPECT_EQ(string_in(R"("")"), "");
    EXPECT_EQ(string_in(R"( "unet.weight" )"), "unet.weight");
    EXPECT_EQ(string_in("\"gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x8e\xa8\""),
              "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x8e\xa8");
}

TEST(HeaderScanner, ResolvesEscapes) {
    EXPECT_EQ(string_in(R"("a\"b\\c\/d\b\f\n\r\te")"), "a\"b\\c/d\b\f\n\r\te");
    EXPECT_EQ(string_in(R"("\u0041\u00e9\u6F22")"), "A\xc3\xa9\xe6\xbc\xa2");
    EXPECT_EQ(string_in(R"("\uD83C\uDFA8!")"), "\xf0\x9f\x8e\xa8!");
    EXPECT_EQ(string_in(R"("a\u0000b")"), "a\0b"sv);
}

TEST(HeaderScanner, ViewsOfSeveralStringsLiveSideBySide) {
    HeaderScanner scanner(R"("\u0061" "b" "\u0063")");
    std::vector<std::string_view> views(3);
    for (auto& view : views) ASSERT_TRUE(scanner.string(view));
    const auto kept = scanner.take_resolved();
    EXPECT_EQ(views, (std::vector<std::string_view>{"a", "b", "c"}));
}

TEST(HeaderScanner, RefusesBrokenStrings) {
    EXPECT_EQ(fault_of_string("x"), "'\"' is expected");
    EXPECT_EQ(fault_of_string(""), "it ends where '\"' should be");
    EXPECT_EQ(fault_of_string("\"abc"), "a string has no end");
    EXPECT_EQ(fault_of_string("\"abc\\"), "a string has no end");
    EXPECT_EQ(fault_of_string("\"a\nb\""), "a control character stands unescaped in a string");
    EXPECT_EQ(fault_of_string(R"("\x")"), "an escape in a string is unknown");
    EXPECT_EQ(fault_of_string(R"("\u12g4")"), "\\u without four hexadecimal digits");
    EXPECT_EQ(fault_of_string(R"("\u12)"), "\\u without four hexadecimal digits");
}

TEST(HeaderScanner, RefusesHalfSurrogatePairs) {
    for (const auto text : {R"("\uD83C")", R"("\uD83Cx")", R"("\uD83C\n")", R"("\uD83CA")",
                            R"("\uDFA8")", R"("\uDFA8\uD83C")"})
        EXPECT_EQ(fault_of_string(text), "half a surrogate pair") << text;
}

TEST(HeaderScanner, RefusesMalformedUtf8) {
    for (const auto bytes : {"\"\x80\""sv, "\"\xc0\xaf\""sv, "\"\xc3\""sv, "\"\xe0\x80\x80\""sv,
                             "\"\xed\xa0\x80\""sv, "\"\xf4\x90\x80\x80\""sv, "\"\xff\""sv})
        EXPECT_EQ(fault_of_string(bytes), "a string is not valid UTF-8");
}

TEST(HeaderScanner, ReadsTheWholeRangeOf64Bits) {
    EXPECT_EQ(number_in("0"), 0U);
    EXPECT_EQ(number_in(" 1280 "), 1280U);
    EXPECT_EQ(number_in("18446744073709551615"), 18446744073709551615U);
}

TEST(HeaderScanner, RefusesOtherNumbers) {
    const auto fault_of = [](std::string_view text) {
        HeaderScanner scanner(text);
        std::uint64_t number = 0;
        EXPECT_FALSE(scanner.unsigned_integer(number)) << text;
        return scanner.fault();
    };
    EXPECT_EQ(fault_of("18446744073709551616"), "a number is beyond 64 bits");
    EXPECT_EQ(fault_of("99999999999999999999999999"), "a number is beyond 64 bits");
    EXPECT_EQ(fault_of("-1"), "a number is negative");
    EXPECT_EQ(fault_of("1.0"), "a number is not whole");
    EXPECT_EQ(fault_of("1e3"), "a number is not whole");
    EXPECT_EQ(fault_of("007"), "a number has leading zeros");
    EXPECT_EQ(fault_of("+1"), "a whole number is expected");
    EXPECT_EQ(fault_of("\"1\""), "a whole number is expected");
    EXPECT_EQ(fault_of(""), "a whole number is expected");
}

TEST(HeaderScanner, StaysAtTheFirstFault) {
    HeaderScanner scanner("[1, -2, 3]");
    std::uint64_t number = 0;
    EXPECT_TRUE(scanner.expect('['));
    EXPECT_TRUE(scanner.unsigned_integer(number));
    EXPECT_TRUE(scanner.expect(','));
    EXPECT_FALSE(scanner.unsigned_integer(number));
    const auto position = scanner.position();
    EXPECT_EQ(position, 4U);
    EXPECT_FALSE(scanner.accept('-'));
    EXPECT_FALSE(scanner.expect(']'));
    EXPECT_FALSE(scanner.fail("another"));
    EXPECT_EQ(scanner.fault(), "a number is negative");
    EXPECT_EQ(scanner.position(), position);
}

}  // namespace
}  // namespace ballast::formats
