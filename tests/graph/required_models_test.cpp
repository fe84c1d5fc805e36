#include "ballast/graph/required_models.hpp"

#include <gmock/gmock.h>

#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

using ::testing::ElementsAre;

TEST(RequiredModels, AreThoseThatLoadersName) {
    const auto workflow = testing::workflow_of(R"({
        "4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"sd15.safetensors"}},
        "5":{"class_type":"VAELoader","inputs":{"vae_name":{"__value__":"vae.pt"}}},
        "6":{"class_type":"CLIPTextEncode","inputs":{"text":"a.safetensors","clip":["4",1]}},
        "7":{"class_type":"UNETLoader","inputs":{"unet_name":["9",0],"weight_dtype":"default"}},
        "8":{"class_type":"CLIPLoader","inputs":{"clip_name":5}},
        "9":{"class_type":"Unknown","inputs":{"ckpt_name":"x"}},
        "10":"text"})");
    EXPECT_THAT(required_models(workflow, standard_catalogue()),
                ElementsAre(RequiredModel{"4", "CheckpointLoaderSimple", "ckpt_name", "checkpoints",
                                          "sd15.safetensors"},
                            RequiredModel{"5", "VAELoader", "vae_name", "vae", "vae.pt"}));
}

}  // namespace
}  // namespace ballast::graph
