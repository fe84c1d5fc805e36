// Loaders: what they accept, what they refuse and why, and what they hold in memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/tiny_host.hpp"

namespace ballast::runtime::nodes {
namespace {

using namespace ballast::literals;
using ballast::testing::content;
using ballast::testing::part_of;
using ballast::testing::picture_of;
using ballast::testing::samples_of;
using ballast::testing::tiny_checkpoint;
using ballast::testing::TinyHost;
using ballast::testing::TinyScene;
using ballast::testing::widened;
using ballast::testing::write_tiny;
using graph::Json;
using ::testing::HasSubstr;

Bytes weights_now(TinyHost& host) { return host.memory().tag(device::Tag::weights).now; }

Error refusal(TinyHost& host, const std::string& name) {
    const auto result = host.try_run("CheckpointLoaderSimple", {{"ckpt_name", Json(name)}});
    EXPECT_FALSE(result);
    EXPECT_EQ(weights_now(host), Bytes{}) << name;
    return result ? Error{} : result.error();
}

TEST(ComponentFiles, GiveTheBitsOfTheCheckpointTheyWereCutFrom) {
    TinyHost host;
    const auto tensors = tiny_checkpoint();
    write_tiny(host.path() / "unet", part_of(tensors, "model.diffusion_model.", ""));
    write_tiny(host.path() / "clip", part_of(tensors, "cond_stage_model.transformer.", ""));
    write_tiny(host.path() / "vae", part_of(tensors, "first_stage_model.", ""));
    host.add_model("diffusion_models", host.path() / "unet", "unet.safetensors");
    host.add_model("text_encoders", host.path() / "clip", "clip.safetensors");
    host.add_model("vae", host.path() / "vae", "vae.safetensors");

    const TinyScene whole(host);
    TinyScene parts = whole;
    parts.model = host.run(
        "UNETLoader", {{"unet_name", Json("unet.safetensors")}, {"weight_dtype", Json("default")}},
        1)[0];
    parts.clip = host.run(
        "CLIPLoader", {{"clip_name", Json("clip.safetensors")}, {"type", Json("stable_diffusion")}},
        1)[0];
    parts.vae = host.run("VAELoader", {{"vae_name", Json("vae.safetensors")}}, 1)[0];
    parts.positive = host.encode(parts.clip, "a red circle");
    parts.negative = host.encode(parts.clip, "blue");

    const auto latent = whole.sample();
    EXPECT_TRUE(samples_of(parts.sample()).equal(samples_of(latent)));
    EXPECT_TRUE(picture_of(parts.decode(latent)).equal(picture_of(whole.decode(latent))));
}

TEST(Loaders, GiveTheSameBitsForHalfAndForFullPrecisionOfTheSameNumbers) {
    TinyHost host;
    write_tiny(host.path() / "wide", widened(tiny_checkpoint()));
    host.add_model("checkpoints", host.path() / "wide", "wide.safetensors");
    const TinyScene half(host);
    const TinyScene full(host, "wide.safetensors");
    const auto latent = half.sample();
    EXPECT_TRUE(samples_of(full.sample()).equal(samples_of(latent)));
    EXPECT_TRUE(picture_of(full.decode(latent)).equal(picture_of(half.decode(latent))));
}

TEST(Loaders, ShareTheWeightsOfOneFileWhichTheRegistryOwns) {
    TinyHost host;
    auto first = host.load();
    EXPECT_EQ(weights_now(host), Bytes{}) << "nothing is read before it is used";
    (void)host.encode(first[1], "a");
    const auto once = weights_now(host);
    EXPECT_GT(once, Bytes{});
    auto second = host.load();
    (void)host.encode(second[1], "b");
    EXPECT_EQ(weights_now(host), once);
    EXPECT_EQ(host.session().report().models.size(), 1U);
    ASSERT_EQ(host.registry().models().size(), 1U);
    EXPECT_EQ(host.registry().models()[0].uses, 2U);
    first.clear();
    second.clear();
    EXPECT_EQ(weights_now(host), once) << "no value that goes takes a model along";
    EXPECT_EQ(host.registry().release_all().freed.size(), 1U);
    EXPECT_EQ(host.held(), Bytes{});
}

TEST(Loaders, GiveOnlyTheOutputsThatAreUsed) {
    TinyHost host;
    graph::NodeCall call;
    call.node_id = "1";
    call.class_type = "CheckpointLoaderSimple";
    call.inputs = {{"ckpt_name", Json("tiny.safetensors")}};
    call.output_is_used = {false, false, true};
    const auto outputs = value_or_throw(host.session().run(call, host.notes)).outputs;
    EXPECT_EQ(outputs[0], nullptr);
    EXPECT_EQ(outputs[1], nullptr);
    EXPECT_NE(outputs[2], nullptr);
    (void)host.run("VAEDecode", {{"samples", host.empty_latent()}, {"vae", outputs[2]}}, 1);
    ASSERT_EQ(host.session().report().models.size(), 1U);
    EXPECT_EQ(host.session().report().models[0].name, "tiny.safetensors (vae)");
}

TEST(Loaders, NoticeThatAFileWasReplaced) {
    TinyHost host;
    auto tensors = tiny_checkpoint();
    write_tiny(host.path() / "file", tensors);
    host.add_model("checkpoints", host.path() / "file", "changing.safetensors");
    const auto before = host.load("changing.safetensors");
    (void)host.encode(before[1], "a");
    const auto id = host.registry().models().at(0).handle;
    std::filesystem::remove(host.path() / "file");
    write_tiny(host.path() / "file", widened(std::move(tensors)));
    const auto after = host.load("changing.safetensors");
    EXPECT_EQ(host.registry().models().at(0).handle, id) << "nobody has used the new one";
    (void)host.encode(after[1], "a");
    ASSERT_EQ(host.registry().models().size(), 1U) << "the old one has gone";
    EXPECT_NE(host.registry().models()[0].handle, id);
    const auto stale =
        host.try_run("CLIPTextEncode", {{"clip", before[1]}, {"text", Json("a")}}, 1);
    ASSERT_FALSE(stale.has_value()) << "its header was read from another file";
    EXPECT_EQ(stale.error().code, Code::corrupt_file);
    EXPECT_THAT(stale.error().hint, HasSubstr("run the workflow again"));
}

TEST(Loaders, RefuseWhatIsNoModel) {
    TinyHost host;
    EXPECT_EQ(refusal(host, "absent.safetensors").code, Code::not_found);
    EXPECT_EQ(refusal(host, "../../escape.safetensors").code, Code::bad_value);

    const std::string cases = BALLAST_TEST_DATA "/cases/";
    host.add_model("checkpoints", cases + "st-20-lfs-pointer.safetensors", "pointer.safetensors");
    host.add_model("checkpoints", cases + "st-22-zip-checkpoint.safetensors", "zip.safetensors");
    host.add_model("checkpoints", cases + "st-18-empty-file.safetensors", "empty.safetensors");
    host.add_model("checkpoints", cases + "st-07-overlap.safetensors", "overlap.safetensors");
    EXPECT_EQ(refusal(host, "pointer.safetensors").code, Code::foreign_file);
    EXPECT_EQ(refusal(host, "zip.safetensors").code, Code::foreign_file);
    EXPECT_NE(refusal(host, "empty.safetensors").code, Code::internal);
    EXPECT_EQ(refusal(host, "overlap.safetensors").code, Code::corrupt_file);
}

TEST(Loaders, RefuseACheckpointThatWasCutOff) {
    TinyHost host;
    const auto path = host.path() / "cut";
    std::filesystem::copy_file(ballast::testing::golden_network("sd15-tiny.safetensors"), path);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1000);
    host.add_model("checkpoints", path, "cut.safetensors");
    EXPECT_EQ(refusal(host, "cut.safetensors").code, Code::corrupt_file);
}

TEST(Loaders, NameTheFamilyOfAModelThatTheyCannotRun) {
    TinyHost host;
    const auto tensor = [](const char* name, std::vector<std::int64_t> shape) {
        return ballast::testing::stored_pattern(name, ElementType::f16, std::move(shape));
    };
    write_tiny(host.path() / "xl",
               {tensor("model.diffusion_model.label_emb.0.0.weight", {8, 8}),
                tensor("model.diffusion_model.input_blocks.0.0.weight", {8, 4, 3, 3}),
                tensor("conditioner.embedders.1.model.ln_final.weight", {8})});
    host.add_model("checkpoints", host.path() / "xl", "xl.safetensors");
    const auto error = refusal(host, "xl.safetensors");
    EXPECT_EQ(error.code, Code::unsupported);
    EXPECT_THAT(to_string(error), HasSubstr("SDXL"));
}

TEST(Loaders, NameTheTensorThatACheckpointLacks) {
    TinyHost host;
    auto tensors = tiny_checkpoint();
    std::erase_if(tensors, [](const auto& tensor) {
        return tensor.name == "model.diffusion_model.middle_block.0.in_layers.2.weight";
    });
    write_tiny(host.path() / "hole", tensors);
    host.add_model("checkpoints", host.path() / "hole", "hole.safetensors");
    EXPECT_THAT(to_string(refusal(host, "hole.safetensors")),
                HasSubstr("middle_block.0.in_layers.2.weight"));
}

TEST(Loaders, RefuseAComponentOfAnotherKind) {
    TinyHost host;
    const auto tensors = tiny_checkpoint();
    write_tiny(host.path() / "vae", part_of(tensors, "first_stage_model.", ""));
    host.add_model("diffusion_models", host.path() / "vae", "vae.safetensors");
    host.add_model("text_encoders", host.path() / "vae", "vae.safetensors");
    host.add_model("checkpoints", host.path() / "vae", "vae.safetensors");
    host.add_model("vae", host.path() / "vae", "vae.safetensors");
    for (const auto& result :
         {host.try_run("UNETLoader",
                       {{"unet_name", Json("vae.safetensors")}, {"weight_dtype", Json("default")}}),
          host.try_run("CLIPLoader", {{"clip_name", Json("vae.safetensors")},
                                      {"type", Json("stable_diffusion")}}),
          host.try_run("CheckpointLoaderSimple", {{"ckpt_name", Json("vae.safetensors")}})}) {
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, Code::unsupported) << to_string(result.error());
        EXPECT_THAT(result.error().why, HasSubstr("an autoencoder"));
        EXPECT_THAT(result.error().hint, HasSubstr("VAELoader"));
        EXPECT_EQ(result.error().place.node, "1");
    }
    EXPECT_TRUE(host.try_run("VAELoader", {{"vae_name", Json("vae.safetensors")}}, 1));
    EXPECT_EQ(host.memory().now, Bytes{});
}

TEST(Loaders, NameTheLoaderOfAPartThatACheckpointLacks) {
    TinyHost host;
    auto tensors = tiny_checkpoint();
    std::erase_if(tensors,
                  [](const auto& tensor) { return tensor.name.starts_with("first_stage_model."); });
    write_tiny(host.path() / "partial", tensors);
    host.add_model("checkpoints", host.path() / "partial", "partial.safetensors");
    host.add_model("vae", host.path() / "partial", "partial.safetensors");
    const auto error = refusal(host, "partial.safetensors");
    EXPECT_EQ(error.code, Code::not_found);
    EXPECT_THAT(error.hint, HasSubstr("VAELoader"));
    const auto vae = host.try_run("VAELoader", {{"vae_name", Json("partial.safetensors")}}, 1);
    ASSERT_FALSE(vae);
    EXPECT_EQ(vae.error().code, Code::unsupported);
    EXPECT_THAT(vae.error().hint, HasSubstr("CheckpointLoaderSimple"));
}

TEST(Loaders, SayWhichChoicesAreNotThereYet) {
    TinyHost host;
    const auto whole = ballast::testing::golden_network("sd15-tiny.safetensors");
    host.add_model("diffusion_models", whole, "tiny.safetensors");
    host.add_model("text_encoders", whole, "tiny.safetensors");
    const auto key_of = [](const Result<graph::NodeResult>& result) {
        EXPECT_FALSE(result);
        if (result) return std::string{};
        EXPECT_EQ(result.error().code, Code::not_available);
        return result.error().place.key;
    };
    EXPECT_EQ(key_of(host.try_run("UNETLoader", {{"unet_name", Json("tiny.safetensors")},
                                                 {"weight_dtype", Json("fp8_e5m2")}})),
              "weight_dtype");
    EXPECT_EQ(key_of(host.try_run(
                  "CLIPLoader", {{"clip_name", Json("tiny.safetensors")}, {"type", Json("sd3")}})),
              "type");
    EXPECT_EQ(key_of(host.try_run("VAELoader", {{"vae_name", Json("pixel_space")}})), "vae_name");
}

TEST(FirstUse, IsRefusedBeforeReadingWhenTheLimitCannotHoldWhatItNeeds) {
    TinyHost host({{kCpu, 64_KiB}});
    const auto loaded = host.load();
    const auto refused =
        host.try_run("CLIPTextEncode", {{"clip", loaded[1]}, {"text", Json("a")}}, 1);
    ASSERT_FALSE(refused);
    const auto& error = refused.error();
    EXPECT_EQ(error.code, Code::does_not_fit);
    const auto& shortfall = error.shortfall.at(kCpu);
    EXPECT_LE(shortfall.available, 64U << 10U);
    EXPECT_GT(shortfall.missing(), 0U);
    EXPECT_THAT(error.what, HasSubstr("tiny.safetensors (text)"));
    EXPECT_EQ(error.place.node, "1");
    EXPECT_THAT(error.hint, HasSubstr("--memory-limit cpu="));
    EXPECT_EQ(host.memory().tag(device::Tag::weights).peak, Bytes{});
}

TEST(FirstUse, LeavesInTheFileWhatTheLimitCannotHold) {
    const auto with_demo = [](TinyHost& host) -> TinyHost& {
        host.add_model("checkpoints", ballast::testing::demo_checkpoint(), "demo.safetensors");
        return host;
    };
    TinyHost free;
    const TinyScene scene(with_demo(free), "demo.safetensors");
    const auto whole = scene.sample();
    const auto need = free.memory().peak;

    const auto limit = 3_MiB;
    ASSERT_LT(limit, need);
    TinyHost narrow({{kCpu, limit}});
    const TinyScene tight(with_demo(narrow), "demo.safetensors");
    EXPECT_TRUE(samples_of(tight.sample()).equal(samples_of(whole)));
    const auto report = narrow.session().report();
    const DeviceId disk{DeviceKind::disk, 0};
    EXPECT_TRUE(std::ranges::any_of(report.models, [&](const graph::ModelReport& model) {
        return model.homes.contains(disk);
    })) << "blocks are read at each use";
    EXPECT_LE(narrow.memory().peak, limit);
    EXPECT_EQ(report.planned, report.realised);
}

}  // namespace
}  // namespace ballast::runtime::nodes
