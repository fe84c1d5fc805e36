#include "ballast/runtime/text/clip_tokenizer.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ClipTokenizer& tokenizer() {
    static const ClipTokenizer shared;
    return shared;
}

/// Tokens without start, end and padding.
std::vector<std::int32_t> ids_of(const TokenizedPrompt& prompt) {
    std::vector<std::int32_t> ids;
    for (const auto& window : prompt.windows)
        for (const auto& token : window)
            if (token.group != 0) ids.push_back(token.embedding ? -1 : token.id);
    return ids;
}

/// An embedding "three" of three rows and one "one," of one row, both 4 wide.
std::shared_ptr<const EmbeddingRows> find(const std::string& name) {
    const auto rows = [](std::size_t count) {
        return std::make_shared<const EmbeddingRows>(
            EmbeddingRows{.width = 4, .values = std::vector<float>(count * 4, 0.5F)});
    };
    if (name == "three") return rows(3);
    if (name == "one,") return rows(1);
    return nullptr;
}

double weight_of(const nlohmann::json& weight) {
    if (weight.is_number()) return weight.get<double>();
    const auto text = weight.get<std::string>();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    return text == "-inf" ? -std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::infinity();
}

TEST(ClipTokenizer, EqualsTheReferenceOnEveryGoldenPrompt) {
    std::ifstream file(BALLAST_TEST_DATA "/golden/networks/tokens-sd1.json");
    const auto golden = nlohmann::json::parse(file);
    ASSERT_GE(golden["cases"].size(), 100U);
    for (const auto& expected : golden["cases"]) {
        const auto text = expected["prompt"].get<std::string>();
        SCOPED_TRACE(text);
        const auto prompt = tokenizer().tokenize(text);
        ASSERT_EQ(prompt.windows.size(), expected["chunks"].size());
        for (std::size_t i = 0; i < prompt.windows.size(); ++i) {
            const auto& chunk = expected["chunks"][i];
            const auto& window = prompt.windows[i];
            ASSERT_EQ(window.size(), ClipTokenizer::kWindow);
            for (std::size_t k = 0; k < window.size(); ++k) {
                ASSERT_EQ(window[k].id, chunk["ids"][k].get<std::int32_t>()) << i << ' ' << k;
                ASSERT_EQ(window[k].group, chunk["words"][k].get<std::int32_t>()) << i << ' ' << k;
                const auto weight =
                    chunk.contains("weights") ? weight_of(chunk["weights"][k]) : 1.0;
                if (std::isnan(weight))
                    ASSERT_TRUE(std::isnan(window[k].weight)) << i << ' ' << k;
                else
                    ASSERT_EQ(window[k].weight, weight) << i << ' ' << k;
            }
        }
    }
}

TEST(ClipTokenizer, PadsWithTheGivenToken) {
    const ClipTokenizer zeros({.padding = 0});
    const auto prompt = zeros.tokenize("cat");
    EXPECT_EQ(prompt.windows.front()[2].id, ClipVocabulary::kEnd);
    EXPECT_EQ(prompt.windows.front()[3].id, 0);
}

TEST(ClipTokenizer, PutsTheRowsOfAnEmbeddingInThePlaceOfItsName) {
    const auto prompt = tokenizer().tokenize("a embedding:three cat (embedding:three:0.5)", find);
    EXPECT_THAT(ids_of(prompt), ElementsAre(320, -1, -1, -1, 2368, -1, -1, -1));
    const auto& window = prompt.windows.front();
    EXPECT_EQ(window[2].row, 0U);
    EXPECT_EQ(window[4].row, 2U);
    EXPECT_EQ(window[2].weight, 1.0);
    EXPECT_EQ(window[6].weight, 0.5);
    EXPECT_EQ(window[1].group, 1);
    EXPECT_EQ(window[2].group, 2);
    EXPECT_EQ(window[5].group, 3);
    EXPECT_THAT(prompt.warnings, IsEmpty());
}

TEST(ClipTokenizer, GivesCommasAroundANameBackToTheText) {
    EXPECT_THAT(ids_of(tokenizer().tokenize("embedding:three, cat", find)),
                ElementsAre(-1, -1, -1, 267, 2368));
    EXPECT_THAT(ids_of(tokenizer().tokenize("embedding:one, cat", find)), ElementsAre(-1, 2368));
}

TEST(ClipTokenizer, AsksForEveryEmbeddingOnce) {
    std::vector<std::string> asked;
    const auto noted = [&asked](const std::string& name) {
        asked.push_back(name);
        return find(name);
    };
    const auto prompt = tokenizer().tokenize(
        "embedding:three embedding:three, embedding:none embedding:none", noted);
    EXPECT_EQ(ids_of(prompt).size(), 7U);
    EXPECT_THAT(asked, ElementsAre("three", "three,", "none"));
}

TEST(ClipTokenizer, LeavesOutAnUnknownEmbeddingWithAWarning) {
    const auto prompt = tokenizer().tokenize("a embedding:other, cat", find);
    EXPECT_THAT(ids_of(prompt), ElementsAre(320, 267, 2368));
    EXPECT_THAT(prompt.warnings, ElementsAre(HasSubstr("embedding:other was not found")));
    EXPECT_THAT(tokenizer().tokenize("embedding:,,, cat").warnings.size(), 1U);
}

TEST(ClipTokenizer, LeavesOutAnEmbeddingOfAnotherWidth) {
    const ClipTokenizer wide({.width = 8});
    const auto prompt = wide.tokenize("a embedding:three cat", find);
    EXPECT_THAT(ids_of(prompt), ElementsAre(320, 2368));
    EXPECT_THAT(prompt.warnings, ElementsAre(HasSubstr("4 wide")));
}

TEST(ClipTokenizer, RefusesAnEmbeddingWithoutName) {
    for (const auto* text :
         {"embedding:", "a embedding: ", "(embedding:)", "embedding: embedding:x"}) {
        try {
            (void)tokenizer().tokenize(text, find);
            FAIL() << text;
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.error().code, Code::bad_value);
            EXPECT_THAT(failure.error().hint, HasSubstr("embedding:NAME"));
        }
    }
}

TEST(ClipTokenizer, TellsWhetherAnyWeightIsNotOne) {
    EXPECT_FALSE(tokenizer().tokenize("a (cat:1.0)").is_weighted());
    EXPECT_TRUE(tokenizer().tokenize("a (cat:nan)").is_weighted());
}

TEST(ClipTokenizer, ReadsTenThousandWordsInWindows) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += "cat ";
    const auto prompt = tokenizer().tokenize(text);
    EXPECT_EQ(prompt.windows.size(), 134U);
    EXPECT_EQ(ids_of(prompt).size(), 10'000U);
    std::string weighted;
    for (int i = 0; i < 10'000; ++i) weighted += "(cat:1.1) ";
    EXPECT_EQ(ids_of(tokenizer().tokenize(weighted)).size(), 10'000U);
}

TEST(ClipTokenizer, ServesSeveralThreads) {
    const ClipTokenizer shared;
    std::vector<std::vector<std::int32_t>> results(4);
    std::vector<std::thread> threads;
    for (auto& result : results)
        threads.emplace_back([&] { result = ids_of(shared.tokenize("a photo of a cat")); });
    for (auto& thread : threads) thread.join();
    for (const auto& result : results) EXPECT_THAT(result, ElementsAre(320, 1125, 539, 320, 2368));
}

TEST(ClipTokenizer, WarnsOfWeightsThatNobodyMeans) {
    for (const auto* weight : {"nan", "inf", "1e400", "-1e30"}) {
        const auto prompt = tokenizer().tokenize("a dog, (cat:" + std::string(weight) + ")");
        EXPECT_THAT(prompt.warnings, ElementsAre(HasSubstr("'cat'"))) << weight;
    }
    EXPECT_THAT(tokenizer().tokenize("(cat:-2), ((dog))").warnings, IsEmpty());
}

}  // namespace
}  // namespace ballast::runtime::text
