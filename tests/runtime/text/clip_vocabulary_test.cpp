#include "ballast/runtime/text/clip_vocabulary.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

namespace ballast::runtime::text {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::int32_t> encoded(std::string_view piece) {
    static const ClipVocabulary vocabulary;
    std::vector<std::int32_t> ids;
    vocabulary.encode(piece, ids);
    return ids;
}

TEST(ClipVocabulary, LiesInsideTheLibraryByteForByte) {
    const auto embedded = ClipVocabulary::embedded_file();
    const std::string_view bytes(reinterpret_cast<const char*>(embedded.data()), embedded.size());
    std::ifstream file(BALLAST_SOURCE_DIR "/data/clip/bpe_simple_vocab_16e6.txt.gz",
                       std::ios::binary);
    std::string expected(bytes.size() + 1, '\0');
    file.read(expected.data(), static_cast<std::streamsize>(expected.size()));
    expected.resize(static_cast<std::size_t>(file.gcount()));
    EXPECT_TRUE(bytes == expected);
}

TEST(ClipVocabulary, NumbersBytesThenEndsOfWordsThenMerges) {
    EXPECT_THAT(encoded("!"), ElementsAre(256));
    EXPECT_THAT(encoded("a"), ElementsAre(256 + 64));
    EXPECT_THAT(encoded(std::string(1, '\0')), ElementsAre(256 + 188));
    EXPECT_THAT(encoded("cat"), ElementsAre(2368));
    EXPECT_THAT(encoded("habib").back(), ::testing::Lt(49406));
}

TEST(ClipVocabulary, KnowsTheSpecialTokens) {
    EXPECT_THAT(encoded("<|startoftext|>"), ElementsAre(49406));
    EXPECT_THAT(encoded("<|endoftext|>"), ElementsAre(49407));
    EXPECT_THAT(encoded(""), IsEmpty());
}

TEST(ClipVocabulary, AppliesTheEarliestLearnedMergeFirst) {
    EXPECT_THAT(encoded("supercalifragilisticexpialidocious"),
                ElementsAre(1642, 2857, 13093, 2076, 5868, 26850, 835, 639, 38466));
    EXPECT_THAT(encoded("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), ElementsAre(23126, 23126, 23126, 44413));
}

TEST(ClipVocabulary, EncodesAnyBytes) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    EXPECT_FALSE(encoded(bytes).empty());
}

TEST(ClipVocabulary, EncodesAMillionLettersWithoutSpace) {
    EXPECT_EQ(encoded(std::string(1'000'000, 'a')).size(), 125'001U);
}

}  // namespace
}  // namespace ballast::runtime::text
