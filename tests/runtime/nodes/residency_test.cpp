// What stays loaded between nodes and prompts, with real networks.

#include <gmock/gmock.h>

#include "tests/support/simulated_cards.hpp"
#include "tests/support/tiny_host.hpp"

namespace ballast::runtime::nodes {
namespace {

using ballast::testing::kCard;
using ballast::testing::picture_of;
using ballast::testing::samples_of;
using ballast::testing::TinyHost;
using ballast::testing::TinyScene;
using ballast::testing::two_cards;
using graph::Json;
using graph::ValuePtr;
using residency::FreeFlags;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr FreeFlags kBoth{.unload_models = true, .free_memory = true};

class ResidencyOfModels : public ::testing::Test {
protected:
    /// A loader of ComfyUI-MultiGPU, for the network alone.
    ValuePtr network(bool keep_loaded, std::optional<bool> eject = std::nullopt) {
        TinyHost::Inputs inputs{{"unet_name", Json("tiny.safetensors")},
                                {"weight_dtype", Json("default")},
                                {"compute_device", Json("cuda:0")},
                                {"virtual_vram_gb", Json(0.0)},
                                {"donor_device", Json("cpu")},
                                {"expert_mode_allocations", Json("cuda:0,50%;cuda:1,50%")},
                                {"keep_loaded", Json(keep_loaded)}};
        if (eject) inputs.emplace("eject_models", Json(*eject));
        return host_.run("UNETLoaderDisTorch2MultiGPU", std::move(inputs), 1)[0];
    }
    ValuePtr sample(const TinyScene& scene, const ValuePtr& model) {
        auto inputs = scene.inputs();
        inputs["model"] = model;
        return host_.run("KSampler", std::move(inputs), 1)[0];
    }
    std::vector<std::string> loaded() {
        std::vector<std::string> names;
        for (const auto& model : host_.registry().models()) names.push_back(model.name);
        return names;
    }
    residency::FreeFlow& flow() { return *host_.session().flow(); }
    residency::FreeAnswer free(const FreeFlags& flags) {
        flow().request(flags);
        return flow().settle([this] { ++drops_; }).value();
    }

    TinyHost host_{two_cards()};
    int drops_ = 0;
};

TEST_F(ResidencyOfModels, WhatItsLoaderKeepsSurvivesAndTheRestComesBackWhenItIsNeeded) {
    host_.add_model(
        "diffusion_models",
        std::filesystem::canonical(host_.path() / "models/checkpoints/tiny.safetensors"),
        "tiny.safetensors");
    const TinyScene scene(host_);
    const auto kept = network(true);
    const auto latent = sample(scene, kept);
    const auto picture = scene.decode(latent);
    EXPECT_THAT(loaded(), ElementsAre("tiny.safetensors (text)", "tiny.safetensors (unet)",
                                      "tiny.safetensors (vae)"));
    const auto before = host_.registry().models()[1];

    const auto answer = free(kBoth);
    EXPECT_EQ(drops_, 1);
    EXPECT_THAT(answer.models.freed, SizeIs(2));
    ASSERT_THAT(loaded(), ElementsAre("tiny.safetensors (unet)"));
    const auto after = host_.registry().models()[0];
    EXPECT_EQ(after, before) << "on both cards, as it was";

    const auto transfers = host_.session().report().models.size();
    EXPECT_TRUE(samples_of(sample(scene, kept)).equal(samples_of(latent)));
    EXPECT_EQ(host_.session().report().models.size(), transfers) << "nothing was loaded for it";
    EXPECT_TRUE(picture_of(scene.decode(latent)).equal(picture_of(picture)))
        << "the autoencoder was read again, by a value that outlived it";
}

TEST_F(ResidencyOfModels, FreeingTwiceChangesNothingMore) {
    const TinyScene scene(host_);
    (void)scene.decode(scene.sample());
    EXPECT_THAT(free(kBoth).models.freed, SizeIs(3));
    EXPECT_THAT(free(kBoth).models.freed, IsEmpty());
    EXPECT_THAT(loaded(), IsEmpty());
    const auto devices = host_.session().report().devices;
    EXPECT_EQ(devices.at(kCard).now, Bytes{});
}

TEST_F(ResidencyOfModels, ARequestDuringAPromptIsCarriedOutAfterIt) {
    const TinyScene scene(host_);
    flow().begin_prompt();
    flow().request(kBoth);
    (void)scene.sample();
    EXPECT_FALSE(flow().settle([] {}).has_value());
    EXPECT_FALSE(loaded().empty()) << "never in the middle of a prompt";
    const auto answer = flow().end_prompt([] {});
    ASSERT_TRUE(answer.has_value());
    EXPECT_THAT(loaded(), IsEmpty());
}

TEST_F(ResidencyOfModels, TwoLoadersOfOneFileShareItAndTheLastOnesWordCounts) {
    host_.add_model(
        "diffusion_models",
        std::filesystem::canonical(host_.path() / "models/checkpoints/tiny.safetensors"),
        "tiny.safetensors");
    const TinyScene scene(host_);
    const auto first = network(true);
    (void)sample(scene, first);
    const auto second = network(false);
    EXPECT_EQ(host_.registry().models().back().retention,
              (residency::RetentionFlag{.value = residency::Retention::release, .is_said = true}));
    (void)sample(scene, second);
    EXPECT_THAT(loaded(),
                UnorderedElementsAre("tiny.safetensors (text)", "tiny.safetensors (unet)"));
    (void)free({.unload_models = true});
    EXPECT_THAT(loaded(), IsEmpty());
}

TEST_F(ResidencyOfModels, AnOldWorkflowsEjectModelsIsObeyedWhenItsModelIsRead) {
    host_.add_model(
        "diffusion_models",
        std::filesystem::canonical(host_.path() / "models/checkpoints/tiny.safetensors"),
        "tiny.safetensors");
    const TinyScene scene(host_);
    (void)scene.decode(scene.sample());
    EXPECT_THAT(loaded(), SizeIs(3));
    const auto ejecting = network(false, true);
    EXPECT_THAT(loaded(), SizeIs(3)) << "nothing goes before it is used";
    (void)sample(scene, ejecting);
    EXPECT_THAT(loaded(), ElementsAre("tiny.safetensors (unet)"));
    (void)scene.decode(scene.latent);
    (void)sample(scene, ejecting);
    EXPECT_THAT(loaded(), SizeIs(2)) << "a model that is loaded ejects nobody";
}

TEST_F(ResidencyOfModels, AFileThatWasDeletedServesAsLongAsItIsLoaded) {
    const auto file = host_.path() / "copy";
    std::filesystem::copy_file(ballast::testing::golden_network("sd15-tiny.safetensors"), file);
    host_.add_model("checkpoints", file, "copy.safetensors");
    const TinyScene scene(host_, "copy.safetensors");
    const auto latent = scene.sample();
    std::filesystem::remove(file);
    EXPECT_TRUE(samples_of(scene.sample()).equal(samples_of(latent)));
    (void)free({.unload_models = true});
    const auto gone = host_.try_run("KSampler", scene.inputs(), 1);
    ASSERT_FALSE(gone.has_value());
    EXPECT_EQ(gone.error().code, Code::not_found);
    EXPECT_FALSE(gone.error().hint.empty());
    EXPECT_EQ(host_.session().report().devices.at(kCard).now, Bytes{}) << "nothing is half loaded";
}

}  // namespace
}  // namespace ballast::runtime::nodes
