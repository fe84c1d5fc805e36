#include "ballast/graph/suitable_loader.hpp"

#include <gmock/gmock.h>

#include "tests/support/safetensors_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::graph {
namespace {

using ballast::testing::stored_floats;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SuitableLoader, IsNeverTheOneInUse) {
    const ballast::testing::TemporaryFolder folder;
    ballast::testing::write_safetensors(
        folder / "clip.safetensors",
        {stored_floats("text_model.embeddings.token_embedding.weight", {1, 1}, {1})});
    const auto directory = formats::open_tensors(folder / "clip.safetensors");
    ASSERT_TRUE(directory) << to_string(directory.error());
    const Error lacking{.code = Code::not_found,
                        .what = "cannot use the text encoder",
                        .why = "there is none",
                        .hint = "load one with CLIPLoader"};
    const auto from_checkpoint =
        with_suitable_loader(lacking, *directory, "CheckpointLoaderSimple");
    EXPECT_THAT(from_checkpoint.hint, HasSubstr("load it with CLIPLoader"));
    const auto from_its_own = with_suitable_loader(lacking, *directory, "CLIPLoader");
    EXPECT_THAT(from_its_own.hint, Not(HasSubstr("CLIPLoader")));
    EXPECT_THAT(from_its_own.why, HasSubstr("it is a CLIP"));
}

}  // namespace
}  // namespace ballast::graph
