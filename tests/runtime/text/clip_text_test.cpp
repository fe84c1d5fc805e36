#include "ballast/runtime/text/clip_text.hpp"

#include <gmock/gmock.h>

#include <string>

#include "ballast/runtime/text/unicode.hpp"

namespace ballast::runtime::text {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ClipText, CutsWordsNumbersSymbolsAndContractions) {
    EXPECT_THAT(clip_pieces("It's 42 cats, isn't it?!"),
                ElementsAre("it", "'s", "4", "2", "cats", ",", "isn", "'t", "it", "?!"));
    EXPECT_THAT(
        clip_pieces("we'll they've I'd I'm you're 'so"),
        ElementsAre("we", "'ll", "they", "'ve", "i", "'d", "i", "'m", "you", "'re", "'s", "o"));
    EXPECT_THAT(clip_pieces("!'s"), ElementsAre("!'", "s"));
    EXPECT_THAT(clip_pieces(""), IsEmpty());
    EXPECT_THAT(clip_pieces(" \t\r\n "), IsEmpty());
}

TEST(ClipText, DropsControlFormatPrivateAndUnassignedCharacters) {
    EXPECT_THAT(clip_pieces("so\u00ADft ze\u200Bro a\u0007b \uE000x\U000E0FFF"),
                ElementsAre("soft", "zero", "ab", "x"));
    EXPECT_THAT(clip_pieces(std::string("a\0b\u0085c", 6)), ElementsAre("abc"));
}

TEST(ClipText, TreatsEveryKindOfSpaceAsABlank) {
    EXPECT_THAT(clip_pieces("a\u00A0b\u3000c\u2028d\ne"), ElementsAre("a", "b", "c", "d", "e"));
}

TEST(ClipText, SetsIdeographsApart) {
    EXPECT_THAT(clip_pieces("a\u65E5\u672Cb"), ElementsAre("a", "\u65E5", "\u672C", "b"));
    EXPECT_THAT(clip_pieces("\u306E\u30C6"), ElementsAre("\u306E\u30C6"));  // kana are letters
}

TEST(ClipText, ComposesButDoesNotFoldCompatibilityCharacters) {
    EXPECT_THAT(clip_pieces("cafe\u0301"), ElementsAre("caf\u00E9"));
    EXPECT_THAT(clip_pieces("\u1112\u1161\u11AB"), ElementsAre("\uD55C"));
    EXPECT_THAT(clip_pieces("\uFB01"), ElementsAre("\uFB01"));
    EXPECT_THAT(clip_pieces("\uF900"), ElementsAre("\u8C48"));
}

TEST(ClipText, LowersAsPythonDoes) {
    EXPECT_THAT(clip_pieces("\u00C5NGSTR\u00D6M"), ElementsAre("\u00E5ngstr\u00F6m"));
    EXPECT_THAT(clip_pieces("\u0130"), ElementsAre("i", "\u0307"));
    EXPECT_THAT(clip_pieces("STRASSE \u1E9E \u00DF"), ElementsAre("strasse", "\u00DF", "\u00DF"));
}

TEST(ClipText, TheLastSigmaOfAWordIsFinal) {
    EXPECT_THAT(clip_pieces("\u039A\u039F\u03A3\u039C\u039F\u03A3 \u03A3"),
                ElementsAre("\u03BA\u03BF\u03C3\u03BC\u03BF\u03C2", "\u03C3"));
    EXPECT_THAT(clip_pieces("\u039F\u03A3\u2019"), ElementsAre("\u03BF\u03C2", "\u2019"));
    EXPECT_THAT(clip_pieces("\u039F\u03A3\u2019\u0391"),
                ElementsAre("\u03BF\u03C3", "\u2019", "\u03B1"));
}

TEST(ClipText, KeepsSpecialTokensWhole) {
    EXPECT_THAT(clip_pieces("a<|endoftext|>!<|startoftext|>B"),
                ElementsAre("a", "<|endoftext|>", "!", "<|startoftext|>", "b"));
    EXPECT_THAT(clip_pieces("<|EndOfText|>"), ElementsAre("<|endoftext|>"));
    EXPECT_THAT(clip_pieces("!<|ENDOFTEXT|>"), ElementsAre("!<|", "endoftext", "|>"));
    EXPECT_THAT(clip_pieces("<|endoftext"), ElementsAre("<|", "endoftext"));
}

TEST(ClipText, PassesOverTheIotaSubscript) {
    EXPECT_THAT(clip_pieces("a\u0345b !\u0345!"), ElementsAre("a", "b", "!", "!"));
    EXPECT_THAT(clip_pieces("\u03B1\u0345"), ElementsAre("\u1FB3"));
}

TEST(ClipText, PassesOverMalformedUtf8) {
    EXPECT_THAT(clip_pieces("a\xFF\xC3"
                            "b \xED\xA0\x80 c\xF0\x9F"),
                ElementsAre("ab", "c"));
    EXPECT_THAT(clip_pieces("\xF4\x90\x80\x80 \xC0\xAF"), IsEmpty());
}

TEST(ClipText, SortsLongRunsOfMarks) {
    std::string marks = "a";
    for (int i = 0; i < 100'000; ++i) marks += i % 2 == 0 ? "\u0315" : "\u0316";
    const auto pieces = clip_pieces(marks);
    ASSERT_EQ(pieces.size(), 2U);
    EXPECT_EQ(pieces[1].substr(0, 4), "\u0316\u0316");  // class 220 before class 232
}

}  // namespace
}  // namespace ballast::runtime::text
