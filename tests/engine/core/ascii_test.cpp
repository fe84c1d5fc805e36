#include "ballast/engine/core/ascii.hpp"

#include <gtest/gtest.h>

namespace ballast {
namespace {

TEST(Ascii, LowersLettersAndNothingElse) {
    EXPECT_EQ(lower("AbZ[@`{ 09_"), "abz[@`{ 09_");
    EXPECT_EQ(lower("\xC3\x84"), "\xC3\x84") << "bytes of other scripts stay";
}

TEST(Ascii, TrimsBothEnds) {
    EXPECT_EQ(trimmed(" \t\r\n\v\fa b\n"), "a b");
    EXPECT_EQ(trimmed(" \n "), "");
    EXPECT_EQ(trimmed(""), "");
    EXPECT_EQ(trimmed("\xC2\xA0"), "\xC2\xA0");
}

TEST(Ascii, KnowsDigitsAndNames) {
    for (int code = 0; code < 256; ++code) {
        const auto c = static_cast<char>(code);
        const bool is_name = std::string_view(
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_")
                                 .find(c) != std::string_view::npos;
        EXPECT_EQ(is_word_character(c), is_name) << code;
        EXPECT_EQ(is_digit(c), code >= '0' && code <= '9') << code;
    }
}

}  // namespace
}  // namespace ballast
