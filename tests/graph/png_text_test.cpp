#include "ballast/graph/png_text.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>
#include <string>

namespace ballast::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string golden_picture() {
    std::ifstream file(BALLAST_TEST_DATA "/golden/api/saved_with_metadata.png", std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return std::move(bytes).str();
}

std::string big_endian(std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFFU);
    return bytes;
}

std::string chunk(const std::string& type, const std::string& data) {
    return big_endian(static_cast<std::uint32_t>(data.size())) + type + data +
           big_endian(png_checksum(type + data));
}

const std::string kStart("\x89PNG\r\n\x1A\n", 8);

TEST(PngText, ReadsWhatTheReferenceWrote) {
    const auto texts = png_texts(golden_picture());
    ASSERT_TRUE(texts.has_value()) << to_string(texts.error());
    ASSERT_EQ(texts->size(), 3U);
    EXPECT_EQ((*texts)[0].keyword, "prompt");
    EXPECT_THAT((*texts)[0].text, HasSubstr("\"class_type\": \"LoadImage\""));
    EXPECT_EQ((*texts)[1].keyword, "workflow");
    EXPECT_EQ((*texts)[2], (PngText{"other", "{\"k\": 1}"}));
}

TEST(PngText, PassesOverOtherChunks) {
    const auto texts = png_texts(kStart + chunk("IHDR", "?") + chunk("zTXt", "a") +
                                 chunk("tEXt", std::string("k\0", 2)) + chunk("IEND", "") + "rest");
    ASSERT_TRUE(texts.has_value()) << to_string(texts.error());
    EXPECT_EQ(*texts, (std::vector<PngText>{{"k", ""}}));
    EXPECT_THAT(png_texts(kStart + chunk("IEND", "")).value(), IsEmpty());
}

TEST(PngText, RefusesOtherFiles) {
    for (const auto* file : {"", "\x89PN", "{\"1\": {}}", "\xFF\xD8\xFF"}) {
        EXPECT_FALSE(is_png(file));
        const auto texts = png_texts(file);
        ASSERT_FALSE(texts.has_value());
        EXPECT_EQ(texts.error().code, Code::foreign_file);
    }
}

TEST(PngText, RefusesDamagedFilesAndSaysWhere) {
    const auto why = [](const std::string& file) {
        const auto texts = png_texts(file);
        if (texts) return std::string("accepted");
        EXPECT_EQ(texts.error().code, Code::corrupt_file);
        EXPECT_TRUE(texts.error().place.offset.has_value());
        return texts.error().why;
    };
    EXPECT_THAT(why(kStart), HasSubstr("end chunk"));
    EXPECT_THAT(why(kStart + chunk("IHDR", "?")), HasSubstr("end chunk"));
    EXPECT_THAT(why(kStart + "\xFF\xFF\xFF\xFFtEXt1234"), HasSubstr("beyond"));
    EXPECT_THAT(why(kStart + chunk("tEXt", "keyword") + chunk("IEND", "")), HasSubstr("keyword"));
    auto wrong_sum = chunk("tEXt", std::string("k\0v", 3));
    wrong_sum[10] = 'w';
    EXPECT_THAT(why(kStart + wrong_sum + chunk("IEND", "")), HasSubstr("check sum"));
}

TEST(PngText, SurvivesEveryTruncation) {
    const auto picture = golden_picture();
    for (std::size_t length = 0; length + 12 < picture.size(); ++length)
        EXPECT_FALSE(png_texts(std::string_view(picture).substr(0, length)).has_value()) << length;
}

}  // namespace
}  // namespace ballast::graph
