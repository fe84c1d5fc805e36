#include "ballast/runtime/text/prompt.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <string>

namespace ballast::runtime::text {

void PrintTo(const WeightedText& segment, std::ostream* out) {
    *out << '"' << segment.text << "\" at " << segment.weight;
}

namespace {

using Segments = std::vector<WeightedText>;

TEST(PromptWeights, PlainTextHasWeightOne) {
    EXPECT_EQ(parse_weights("a cat [on] a mat, BREAK"),
              (Segments{{"a cat [on] a mat, BREAK", 1.0}}));
    EXPECT_EQ(parse_weights(""), Segments{});
}

TEST(PromptWeights, ParenthesesMultiplyByOneTenthMorePerLevel) {
    EXPECT_EQ(parse_weights("(a)"), (Segments{{"a", 1.1}}));
    EXPECT_EQ(parse_weights("a (b (c) d) e"),
              (Segments{{"a ", 1.0}, {"b ", 1.1}, {"c", 1.1 * 1.1}, {" d", 1.1}, {" e", 1.0}}));
}

TEST(PromptWeights, AColonAndANumberReplaceTheWholeNesting) {
    EXPECT_EQ(parse_weights("x(a:1.2)y"), (Segments{{"x", 1.0}, {"a", 1.2}, {"y", 1.0}}));
    EXPECT_EQ(parse_weights("((a:1.2) b:0.9)"), (Segments{{"a", 1.2}, {" b", 0.9}}));
    EXPECT_EQ(parse_weights("(a:1.3:1.4)"), (Segments{{"a:1.3", 1.4}}));
    EXPECT_EQ(parse_weights("(a : -1 )"), (Segments{{"a ", -1.0}}));
}

TEST(PromptWeights, AnythingElseBehindTheColonIsText) {
    EXPECT_EQ(parse_weights("(a:b)"), (Segments{{"a:b", 1.1}}));
    EXPECT_EQ(parse_weights("(a:)"), (Segments{{"a:", 1.1}}));
    EXPECT_EQ(parse_weights("(:1.3)"), (Segments{{":1.3", 1.1}}));
    EXPECT_EQ(parse_weights("(a:1(b))"), (Segments{{"a:1", 1.1}, {"b", 1.1 * 1.1}}));
    EXPECT_EQ(parse_weights("(a:1\\))"), (Segments{{"a:1)", 1.1}}));
}

TEST(PromptWeights, WeightsAreNotLimited) {
    const auto inf = parse_weights("(a:inf)");
    ASSERT_EQ(inf.size(), 1U);
    EXPECT_EQ(inf.front().weight, std::numeric_limits<double>::infinity());
    const auto nan = parse_weights("(a:nan)");
    ASSERT_EQ(nan.size(), 1U);
    EXPECT_TRUE(std::isnan(nan.front().weight));
    EXPECT_EQ(parse_weights("(a:0)"), (Segments{{"a", 0.0}}));
}

TEST(PromptWeights, EscapedParenthesesAreText) {
    EXPECT_EQ(parse_weights("\\(a\\)"), (Segments{{"(a)", 1.0}}));
    EXPECT_EQ(parse_weights("(out \\(in\\):1.2)"), (Segments{{"out (in)", 1.2}}));
    EXPECT_EQ(parse_weights("\\\\(a\\\\)"), (Segments{{"\\(a\\)", 1.0}}));
    EXPECT_EQ(parse_weights("back\\slash\\"), (Segments{{"back\\slash\\", 1.0}}));
}

TEST(PromptWeights, ParenthesesWithoutPartnerAreText) {
    EXPECT_EQ(parse_weights("((("), (Segments{{"(((", 1.0}}));
    EXPECT_EQ(parse_weights(")))"), (Segments{{")))", 1.0}}));
    EXPECT_EQ(parse_weights("(a:1.3"), (Segments{{"(a:1.3", 1.0}}));
    EXPECT_EQ(parse_weights("a (b"), (Segments{{"a ", 1.0}, {"(b", 1.0}}));
    EXPECT_EQ(parse_weights("(a))"), (Segments{{"a", 1.1}, {")", 1.0}}));
}

TEST(PromptWeights, AClosingOneThatNothingOpenedTakesBackTheNextOpeningOne) {
    EXPECT_EQ(parse_weights(")a("), (Segments{{")a(", 1.0}}));
    EXPECT_EQ(parse_weights("a) (b) (c)"), (Segments{{"a) (b) (c)", 1.0}}));
    EXPECT_EQ(parse_weights("a) (b (c)"), (Segments{{"a) (b ", 1.0}, {"c", 1.1}}));
}

TEST(PromptWeights, AnUnclosedPieceThatEndsInAClosingOneIsALevel) {
    EXPECT_EQ(parse_weights("((a)"), (Segments{{"(a", 1.1}}));
    EXPECT_EQ(parse_weights("((a:1.3)"), (Segments{{"(a", 1.3}}));
    EXPECT_EQ(parse_weights("((b)((a)"), (Segments{{"b", 1.1 * 1.1}, {"((a", 1.1}}));
    EXPECT_EQ(parse_weights("(((a)b)"), (Segments{{"((a)b", 1.1}}));
    EXPECT_EQ(parse_weights("((a) b"), (Segments{{"((a) b", 1.0}}));
}

TEST(PromptWeights, EmptyParenthesesVanish) {
    EXPECT_EQ(parse_weights("()"), Segments{});
    EXPECT_EQ(parse_weights("(())()"), Segments{});
    EXPECT_EQ(parse_weights("( )"), (Segments{{" ", 1.1}}));
}

/// The definition, as a recursion over copies: what `parse_weights` does in one go.
void cut(const std::string& text, double weight, Segments& segments) {
    std::vector<std::string> pieces(1);
    int level = 0;
    for (const char c : text) {
        if (c == '(' && level++ == 0) pieces.emplace_back();
        pieces.back() += c;
        if (c == ')' && --level == 0) pieces.emplace_back();
    }
    for (const auto& piece : pieces) {
        if (piece.size() < 2 || piece.front() != '(' || piece.back() != ')') {
            if (!piece.empty()) segments.push_back({piece, weight});
            continue;
        }
        auto inner = piece.substr(1, piece.size() - 2);
        auto inner_weight = weight * 1.1;
        const auto colon = inner.rfind(':');
        if (colon != std::string::npos && colon > 0 && inner.substr(colon + 1) == "2") {
            inner.resize(colon);
            inner_weight = 2;
        }
        cut(inner, inner_weight, segments);
    }
}

TEST(PromptWeights, EqualTheRecursiveDefinitionOnRandomTexts) {
    std::mt19937 random(7);
    constexpr std::string_view kAlphabet = "((()))a:2";
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (auto length = random() % 24; length > 0; --length)
            text += kAlphabet[random() % kAlphabet.size()];
        Segments expected;
        cut(text, 1.0, expected);
        // numbers other than 2 arise, too: the definition above does not know them
        if (text.find("22") != std::string::npos) continue;
        ASSERT_EQ(parse_weights(text), expected) << text;
    }
}

TEST(PromptWeights, AMillionLevelsAreCutInOneGo) {
    constexpr std::size_t kDepth = 1'000'000;
    const std::string opening(kDepth, '(');
    const std::string closing(kDepth, ')');
    EXPECT_EQ(parse_weights(opening + "a:2" + closing).size(), 1U);
    EXPECT_EQ(parse_weights(opening + "a").size(), 1U);
    EXPECT_EQ(parse_weights(opening + opening + "a" + closing).size(), 1U);
    EXPECT_EQ(parse_weights(closing + opening).size(), 1U);
}

}  // namespace
}  // namespace ballast::runtime::text
