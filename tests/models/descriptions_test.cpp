// What describing a file makes of its names and shapes, and what it refuses.

#include <gmock/gmock.h>

#include <algorithm>

#include "ballast/models/family.hpp"
#include "ballast/models/sd/clip.hpp"
#include "ballast/models/sd/parts.hpp"
#include "ballast/models/sd/unet.hpp"
#include "ballast/models/sd/vae.hpp"
#include "tests/models/headers.hpp"

namespace ballast::models::sd {
namespace {

using testing::directory_of;
using ::testing::HasSubstr;

template <typename T>
Error refusal(const Result<T>& result) {
    EXPECT_FALSE(result.has_value());
    return result ? Error{} : result.error();
}

TEST(Descriptions, FindTheConfigurationThatAFileWasMadeWith) {
    const auto unet = describe_unet(directory_of(parameters(UNetConfig{})));
    ASSERT_TRUE(unet.has_value()) << to_string(unet.error());
    EXPECT_EQ(unet->config, UNetConfig{});
    const auto clip = describe_clip(directory_of(parameters(ClipConfig{}), "text_model."));
    ASSERT_TRUE(clip.has_value()) << to_string(clip.error());
    EXPECT_EQ(clip->config, ClipConfig{});
    const auto vae = describe_vae(directory_of(parameters(VaeConfig{})));
    ASSERT_TRUE(vae.has_value()) << to_string(vae.error());
    EXPECT_EQ(vae->config, VaeConfig{});
}

TEST(Descriptions, TakeMatricesInTheFormOfConvolutions) {
    auto list = parameters(VaeConfig{});
    for (auto& parameter : list)
        if (parameter.kind == Parameter::Kind::matrix)
            parameter.shape.insert(parameter.shape.end(), {1, 1});
    EXPECT_TRUE(describe_vae(directory_of(list)).has_value());
}

TEST(TokenTable, WithoutSomeTokensIsRefusedUnlessTheFileNamesThem) {
    ClipConfig config{.token_rows = 1000};
    const auto error = refusal(describe_clip(directory_of(parameters(config), "text_model.")));
    EXPECT_EQ(error.code, Code::unsupported);
    EXPECT_EQ(error.place.file, "model.safetensors");
    EXPECT_EQ(error.place.key, "text_model.embeddings.token_embedding.weight");
    EXPECT_THAT(error.why, HasSubstr("1000 rows"));
    EXPECT_THAT(error.hint, HasSubstr("embeddings.token_ids"));

    config.has_token_ids = true;
    EXPECT_TRUE(describe_clip(directory_of(parameters(config), "text_model.")).has_value());
}

TEST(TokenTable, MayHaveMoreRowsThanTheVocabulary) {
    const ClipConfig config{.token_rows = 49500};
    EXPECT_TRUE(describe_clip(directory_of(parameters(config), "text_model.")).has_value());
}

TEST(Refusals, SayWhatToDo) {
    auto missing = parameters(VaeConfig{});
    missing.erase(missing.begin() + 20);
    const auto incomplete = refusal(describe_vae(directory_of(missing)));
    EXPECT_EQ(incomplete.code, Code::corrupt_file);
    EXPECT_THAT(incomplete.hint, HasSubstr("fetch it again"));

    auto reshaped = parameters(ClipConfig{});
    reshaped[0].shape = {49408, 768, 1};
    EXPECT_THAT(refusal(describe_clip(directory_of(reshaped))).hint, HasSubstr("fetch it again"));

    const auto narrow = parameters(ClipConfig{.hidden_size = 100, .intermediate_size = 400});
    EXPECT_THAT(refusal(describe_clip(directory_of(narrow))).hint, HasSubstr("ballast.config"));

    const auto lying =
        directory_of(parameters(VaeConfig{}), "", {{"ballast.config", R"({"vae": {"ch": 64}})"}});
    const auto contradiction = refusal(describe_vae(lying));
    EXPECT_EQ(contradiction.code, Code::corrupt_file);
    EXPECT_THAT(contradiction.hint, HasSubstr("ballast.config"));

    const auto adapter = directory_of({{"a.lora_up.weight", {4, 4}}});
    EXPECT_FALSE(refusal(require_sd1(adapter)).hint.empty());
    EXPECT_FALSE(refusal(describe_unet(adapter)).hint.empty());
}

TEST(Parts, AreFoundByTheTypeOfALoadersOutput) {
    ASSERT_NE(part_of("CLIP"), nullptr);
    EXPECT_EQ(part_of("CLIP")->name, "text");
    EXPECT_EQ(part_of("MODEL")->section, "unet");
    EXPECT_EQ(part_of("IMAGE"), nullptr);
    const auto blocks = part_of("VAE")->blocks(directory_of(parameters(VaeConfig{})));
    ASSERT_TRUE(blocks.has_value());
    EXPECT_TRUE(blocks->find("decoder.conv_in").has_value());
    EXPECT_FALSE(part_of("MODEL")->blocks(directory_of(parameters(VaeConfig{}))).has_value());
}

}  // namespace
}  // namespace ballast::models::sd
