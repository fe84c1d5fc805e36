#include "ballast/runtime/text/embedding_file.hpp"

#include <gmock/gmock.h>

#include "tests/support/safetensors_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::runtime::text {
namespace {

using ballast::testing::stored_floats;
using ballast::testing::StoredTensor;
using ballast::testing::TemporaryFolder;
using ballast::testing::write_safetensors;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::filesystem::path file_of(const TemporaryFolder& folder,
                              const std::vector<StoredTensor>& tensors) {
    write_safetensors(folder / "e.safetensors", tensors);
    return folder / "e.safetensors";
}

TEST(EmbeddingFile, GivesRowsOfTheFirstTensor) {
    const TemporaryFolder folder;
    const auto rows =
        read_embedding(file_of(folder, {stored_floats("emb_params", {2, 3}, {1, 2, 3, 4, 5, 6})}));
    ASSERT_TRUE(rows.has_value()) << to_string(rows.error());
    EXPECT_EQ(rows->width, 3U);
    EXPECT_EQ(rows->rows(), 2U);
    EXPECT_THAT(rows->values, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(EmbeddingFile, PrefersTheTensorNamedAfterTheEncoder) {
    const TemporaryFolder folder;
    const auto rows = read_embedding(file_of(
        folder, {stored_floats("clip_g", {1, 2}, {1, 2}), stored_floats("clip_l", {1, 1}, {3})}));
    ASSERT_TRUE(rows.has_value()) << to_string(rows.error());
    EXPECT_THAT(rows->values, ElementsAre(3));
}

TEST(EmbeddingFile, WidensHalfPrecisionAndTakesAVectorForOneRow) {
    const TemporaryFolder folder;
    const std::vector<std::uint16_t> halves{0x3C00, 0xC000};  // 1, -2
    const auto rows = read_embedding(file_of(
        folder,
        {{"emb_params", ElementType::f16, {2}, ballast::testing::bytes_of_values(halves)}}));
    ASSERT_TRUE(rows.has_value()) << to_string(rows.error());
    EXPECT_EQ(rows->rows(), 1U);
    EXPECT_THAT(rows->values, ElementsAre(1, -2));
}

TEST(EmbeddingFile, RefusesWhatIsNoEmbedding) {
    const TemporaryFolder folder;
    const auto code_of = [&](const std::vector<StoredTensor>& tensors) {
        const auto rows = read_embedding(file_of(folder, tensors));
        return rows ? Code::internal : rows.error().code;
    };
    EXPECT_EQ(code_of({}), Code::foreign_file);
    EXPECT_EQ(code_of({stored_floats("x", {}, {1})}), Code::foreign_file);
    EXPECT_EQ(code_of({stored_floats("x", {1, 1, 1}, {1})}), Code::foreign_file);
    EXPECT_EQ(code_of({stored_floats("x", {0, 4}, {})}), Code::foreign_file);
    EXPECT_EQ(code_of({{"x", ElementType::i64, {1}, std::string(8, '\0')}}), Code::foreign_file);
    EXPECT_EQ(code_of({{"x", ElementType::f32, {17, 1 << 20}, std::string(17U << 22U, '\0')}}),
              Code::unsupported);
}

TEST(EmbeddingFile, TakesNoFileOfAnotherKindForAnEmbedding) {
    const TemporaryFolder folder;
    const auto vae =
        read_embedding(file_of(folder, {stored_floats("decoder.conv_in.bias", {2}, {1, 2}),
                                        stored_floats("decoder.norm.bias", {2}, {1, 2})}));
    ASSERT_FALSE(vae.has_value());
    EXPECT_EQ(vae.error().code, Code::foreign_file);
    EXPECT_THAT(vae.error().place.file, HasSubstr("e.safetensors"));
    EXPECT_THAT(vae.error().why, HasSubstr("2 tensors"));
    EXPECT_FALSE(vae.error().hint.empty());

    const auto with_others =
        read_embedding(file_of(folder, {stored_floats("name", {1}, {9}),
                                        stored_floats("string_to_param.*", {1, 1}, {5})}));
    ASSERT_TRUE(with_others.has_value()) << to_string(with_others.error());
    EXPECT_THAT(with_others->values, ElementsAre(5));
    const auto alone = read_embedding(file_of(folder, {stored_floats("<cat>", {1, 1}, {7})}));
    ASSERT_TRUE(alone.has_value()) << to_string(alone.error());
    EXPECT_THAT(alone->values, ElementsAre(7));
}

TEST(EmbeddingFile, SaysWhatIsMissing) {
    const TemporaryFolder folder;
    const auto rows = read_embedding(folder / "none.safetensors");
    ASSERT_FALSE(rows.has_value());
    EXPECT_EQ(rows.error().code, Code::not_found);
    EXPECT_THAT(rows.error().place.file, HasSubstr("none.safetensors"));
}

}  // namespace
}  // namespace ballast::runtime::text
