#include "ballast/runtime/text/encode.hpp"

#include <gmock/gmock.h>

#include <string>

#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A network of width 2 whose results can be told by hand: a token's vector is (id, 1), a hidden
/// vector is the token's plus its place times (0, 100), the pooled one is the hidden one at the
/// first end token.
class Arithmetic final : public WindowEncoder {
public:
    at::Tensor embed(const at::Tensor& ids) override {
        const auto values = ids.to(at::kFloat);
        return ops::stack({values, ops::full(values.sizes(), 1.0, at::kFloat)}, 2);
    }
    EncodedWindows encode(const at::Tensor& tokens,
                          const std::vector<std::int64_t>& end_positions) override {
        batches.push_back(tokens.size(0));
        ends.insert(ends.end(), end_positions.begin(), end_positions.end());
        auto hidden = tokens.clone();
        auto at = hidden.accessor<float, 3>();
        std::vector<at::Tensor> pooled;
        for (std::int64_t b = 0; b < at.size(0); ++b) {
            for (std::int64_t t = 0; t < at.size(1); ++t)
                at[b][t][1] += 100.0F * static_cast<float>(t);
            pooled.push_back(
                hidden.select(0, b).select(0, end_positions[static_cast<std::size_t>(b)]));
        }
        return {hidden, ops::stack(pooled, 0)};
    }

    std::vector<std::int64_t> batches;
    std::vector<std::int64_t> ends;
};

std::vector<float> row(const at::Tensor& tokens, std::int64_t place) {
    const auto values = tokens.accessor<float, 3>()[0][place];
    return {values[0], values[1]};
}

/// The second number of the pooled vector: 1 and a hundred for every place.
float pooled_height(const EncodedPrompt& prompt) {
    return prompt.pooled.accessor<float, 2>()[0][1];
}

std::string cats(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "cat ";
    return text;
}

TEST(EncodePrompt, GivesOneVectorPerTokenAndThePooledOneOfTheFirstWindow) {
    Arithmetic network;
    const auto result = encode_prompt(ClipTokenizer().tokenize("a cat"), network);
    EXPECT_THAT(result.tokens.sizes().vec(), ElementsAre(1, 77, 2));
    EXPECT_THAT(row(result.tokens, 2), ElementsAre(2368.0F, 201.0F));
    EXPECT_THAT(result.pooled.sizes().vec(), ElementsAre(1, 2));
    EXPECT_EQ(pooled_height(result), 301.0F);
    EXPECT_THAT(network.batches, ElementsAre(1));  // nothing is weighted: no empty prompt
}

TEST(EncodePrompt, JoinsWindowsAlongTheTokens) {
    Arithmetic network;
    const auto result = encode_prompt(ClipTokenizer().tokenize(cats(80)), network);
    EXPECT_THAT(result.tokens.sizes().vec(), ElementsAre(1, 154, 2));
    EXPECT_THAT(row(result.tokens, 78), ElementsAre(2368.0F, 101.0F));
    EXPECT_THAT(network.ends, ElementsAre(76, 6));
    EXPECT_EQ(pooled_height(result), 7601.0F);
}

TEST(EncodePrompt, MovesWeightedTokensAwayFromTheEmptyPrompt) {
    Arithmetic network;
    const auto result = encode_prompt(ClipTokenizer().tokenize("a (cat:1.5) (dog:0)"), network);
    EXPECT_THAT(network.batches, ElementsAre(2));
    EXPECT_THAT(network.ends, ElementsAre(4, 1));
    EXPECT_THAT(row(result.tokens, 1), ElementsAre(320.0F, 101.0F));
    EXPECT_THAT(row(result.tokens, 2), ElementsAre((2368.0F - 49407.0F) * 1.5F + 49407.0F, 201.0F));
    EXPECT_THAT(row(result.tokens, 3), ElementsAre(49407.0F, 301.0F));
}

TEST(EncodePrompt, PadsTheEmptyPromptAsThePrompt) {
    Arithmetic network;
    const ClipTokenizer zeros({.padding = 0});
    const auto result = encode_prompt(zeros.tokenize("a (cat:0)"), network);
    EXPECT_THAT(row(result.tokens, 2), ElementsAre(0.0F, 201.0F));
}

TEST(EncodePrompt, PutsEmbeddingRowsInTheirPlaces) {
    Arithmetic network;
    const auto find = [](const std::string&) {
        return std::make_shared<const EmbeddingRows>(
            EmbeddingRows{.width = 2, .values = {1.0F, 2.0F, 3.0F, 4.0F}});
    };
    const auto result = encode_prompt(ClipTokenizer().tokenize("a embedding:x cat", find), network);
    EXPECT_THAT(row(result.tokens, 2), ElementsAre(1.0F, 202.0F));
    EXPECT_THAT(row(result.tokens, 3), ElementsAre(3.0F, 304.0F));
    EXPECT_THAT(row(result.tokens, 4), ElementsAre(2368.0F, 401.0F));
    EXPECT_THAT(network.ends, ElementsAre(5));
}

TEST(EncodePrompt, RefusesAnEmbeddingOfAnotherWidth) {
    Arithmetic network;
    const auto find = [](const std::string&) {
        return std::make_shared<const EmbeddingRows>(
            EmbeddingRows{.width = 3, .values = {1.0F, 2.0F, 3.0F}});
    };
    try {
        (void)encode_prompt(ClipTokenizer().tokenize("embedding:x", find), network);
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.error().code, Code::bad_value);
        EXPECT_THAT(failure.error().why, HasSubstr("3 wide"));
    }
}

TEST(EncodePrompt, EncodesLongPromptsInBatches) {
    Arithmetic network;
    const auto result = encode_prompt(ClipTokenizer().tokenize(cats(10'000) + "(end:2)"), network);
    EXPECT_THAT(result.tokens.sizes().vec(), ElementsAre(1, 134 * 77, 2));
    EXPECT_THAT(network.batches, SizeIs(9));
    EXPECT_THAT(network.batches, ::testing::Each(::testing::Le(16)));
    EXPECT_THAT(row(result.tokens, 133 * 77 + 1), ElementsAre(2368.0F, 101.0F));
}

}  // namespace
}  // namespace ballast::runtime::text
