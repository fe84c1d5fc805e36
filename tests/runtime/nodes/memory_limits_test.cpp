// What nodes do when memory runs out, numbers break or the user stops them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ballast/runtime/image/pixels.hpp"
#include "ballast/runtime/nodes/finite.hpp"
#include "ballast/runtime/sampling/noise.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "tests/support/tiny_host.hpp"

namespace ballast::runtime::nodes {
namespace {

using namespace ballast::literals;
using ballast::testing::distance;
using ballast::testing::fill_with_nan;
using ballast::testing::latent_of;
using ballast::testing::NodeHost;
using ballast::testing::picture_of;
using ballast::testing::samples_of;
using ballast::testing::tiny_checkpoint;
using ballast::testing::TinyHost;
using ballast::testing::TinyScene;
using ballast::testing::write_tiny;
using graph::Json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void limit(TinyHost& host, std::optional<Bytes> bytes) {
    host.session().bench()->ledger()->set_limit(kCpu, bytes);
}

/// What a run needs beyond that which is held before it. Others make room for it.
Bytes need_of(TinyHost& host, const std::function<void()>& work) {
    const auto before = host.memory().now;
    host.session().reset_report();
    work();
    return host.memory().peak.minus_or_zero(before);
}

/// The result of `run` under a limit at which it warns so often and still succeeds. Between more,
/// where it need not warn, and less, where it fails, such limits are found by halving.
graph::ValuePtr at_a_limit_that_warns(TinyHost& host, Bytes need, std::size_t warnings,
                                      const std::function<Result<graph::NodeResult>()>& run) {
    std::uint64_t fails = 0;
    auto suffices = (host.memory().now + need).count();
    while (suffices - fails > 1024) {
        const auto tried = fails + (suffices - fails) / 2;
        host.notes.warnings.clear();
        limit(host, Bytes{tried});
        const auto result = run();
        if (!result)
            fails = tried;
        else if (host.notes.warnings.size() < warnings)
            suffices = tried;
        else
            return result->outputs[0];
    }
    return nullptr;
}

TEST(Sampling, AtAnyLimitSucceedsOrFailsWithoutATrace) {
    TinyHost host;
    const TinyScene scene(host);
    const auto expected = scene.sample();
    const auto held = host.memory().now;
    const auto need = need_of(host, [&] { (void)scene.sample(); });

    std::size_t failed = 0;
    for (std::uint64_t share = 0; share <= 16; ++share) {
        limit(host, Bytes{(held + need).count() * share / 16});
        if (const auto result = host.try_run("KSampler", scene.inputs(), 1); result) {
            EXPECT_LT(distance(result->outputs[0], expected), 1e-3F) << share;
        } else {
            ++failed;
            EXPECT_THAT(result.error().code, AnyOf(Code::out_of_memory, Code::does_not_fit))
                << to_string(result.error());
            EXPECT_FALSE(result.error().shortfall.empty()) << share;
        }
        EXPECT_LE(host.memory().now, held) << share << ": others may have made room";
    }
    EXPECT_GT(failed, 0U);
    EXPECT_LT(failed, 17U);

    limit(host, std::nullopt);
    EXPECT_TRUE(samples_of(scene.sample()).equal(samples_of(expected)));
}

TEST(Sampling, RunsOneTextAtATimeWhenBothDoNotFit) {
    TinyHost host;
    TinyScene scene(host);
    scene.latent = host.empty_latent(256);  // so that activations are what matters
    const auto together = scene.sample();
    const auto need = need_of(host, [&] { (void)scene.sample(); });
    const auto apart = at_a_limit_that_warns(
        host, need, 1, [&] { return host.try_run("KSampler", scene.inputs(), 1); });
    ASSERT_NE(apart, nullptr);
    EXPECT_THAT(host.notes.warnings, ElementsAre(HasSubstr("one text at a time")));
    EXPECT_LT(distance(apart, together), 1e-3F);
}

TEST(Decoding, FallsBackToTilesWhenThePictureDoesNotFit) {
    TinyHost host;
    const TinyScene scene(host);
    const auto latent = latent_of(sampling::initial_noise({1, 4, 16, 192}, 3, {}));
    const auto whole = scene.decode(latent);
    const auto need = need_of(host, [&] { (void)scene.decode(latent); });
    const auto tiled = at_a_limit_that_warns(host, need, 1, [&] {
        return host.try_run("VAEDecode", {{"samples", latent}, {"vae", scene.vae}}, 1);
    });
    ASSERT_NE(tiled, nullptr);
    EXPECT_THAT(host.notes.warnings, ElementsAre(HasSubstr("trying again in tiles")));
    ASSERT_EQ(picture_of(tiled).sizes(), picture_of(whole).sizes());
    EXPECT_LT(picture_of(tiled).sub(picture_of(whole)).abs().mean().item<float>(), 0.02F);
}

/// What VAEDecodeTiled gets for one tile size, without overlap.
NodeHost::Inputs tiled_inputs(const TinyScene& scene, const graph::ValuePtr& latent,
                              std::int64_t tile_px) {
    return {{"samples", latent},  {"vae", scene.vae},          {"tile_size", Json(tile_px)},
            {"overlap", Json(0)}, {"temporal_size", Json(64)}, {"temporal_overlap", Json(8)}};
}

TEST(Decoding, InTilesFallsBackToSmallerOnes) {
    TinyHost host;
    const TinyScene scene(host);
    const auto latent = latent_of(sampling::initial_noise({1, 4, 16, 32}, 3, {}));
    const auto inputs = tiled_inputs(scene, latent, 128);
    const auto whole = host.run("VAEDecodeTiled", inputs, 1)[0];
    const auto need = need_of(host, [&] { (void)host.run("VAEDecodeTiled", inputs, 1); });
    const auto smaller = at_a_limit_that_warns(
        host, need, 1, [&] { return host.try_run("VAEDecodeTiled", inputs, 1); });
    ASSERT_NE(smaller, nullptr);
    EXPECT_THAT(host.notes.warnings[0], HasSubstr("in tiles of 8 latent cells"));
    EXPECT_EQ(picture_of(smaller).sizes(), picture_of(whole).sizes());
    EXPECT_TRUE(ops::is_finite(picture_of(smaller)));
}

TEST(Decoding, PromisesNoTilesForAPictureThatIsSmallerThanOne) {
    TinyHost host;
    const TinyScene scene(host);
    const auto latent = latent_of(sampling::initial_noise({1, 4, 16, 16}, 3, {}));
    limit(host, 300_KiB);
    const auto result = host.try_run("VAEDecode", {{"samples", latent}, {"vae", scene.vae}}, 1);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::does_not_fit);
    EXPECT_THAT(result.error().hint, HasSubstr("--memory-limit cpu="));
    EXPECT_THAT(host.notes.warnings, IsEmpty());
}

TEST(Decoding, FailsWithoutATraceWhenNotEvenATileFits) {
    TinyHost host;
    const TinyScene scene(host);
    limit(host, 300_KiB);
    const auto result =
        host.try_run("VAEDecode", {{"samples", scene.latent}, {"vae", scene.vae}}, 1);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::does_not_fit);
    EXPECT_EQ(host.memory().tag(device::Tag::ring).now, Bytes{});
    limit(host, std::nullopt);
    EXPECT_TRUE(ops::is_finite(picture_of(scene.decode(scene.latent))));
}

class BrokenWeights : public ::testing::Test {
protected:
    TinyScene scene_with_nan_in(const std::string& tensor) {
        auto tensors = tiny_checkpoint();
        fill_with_nan(tensors, tensor);
        write_tiny(host.path() / "broken", tensors);
        host.add_model("checkpoints", host.path() / "broken", "broken.safetensors");
        return TinyScene(host, "broken.safetensors");
    }
    static void expect_black(const at::Tensor& picture) {
        const auto raster = image::to_raster(picture[0]);
        EXPECT_THAT(raster.bytes, ::testing::Each(0));
    }
    TinyHost host;
};

TEST_F(BrokenWeights, OfTheNetworkAreToldOnceByLayerAndGiveABlackPicture) {
    const auto scene = scene_with_nan_in("model.diffusion_model.middle_block.0.in_layers.2.weight");
    const auto latent = scene.sample();
    EXPECT_THAT(host.notes.warnings,
                ElementsAre(AllOf(HasSubstr("the network gives values that are not numbers; "),
                                  HasSubstr("middle_block.0"))));
    const auto picture = scene.decode(latent);
    EXPECT_EQ(host.notes.warnings.size(), 1U) << "the autoencoder is not to blame";
    expect_black(picture_of(picture));
}

TEST_F(BrokenWeights, OfTheAutoencoderAreToldByLayerAndGiveABlackPicture) {
    const auto scene = scene_with_nan_in("first_stage_model.decoder.mid.block_1.conv1.weight");
    const auto latent = scene.sample();
    EXPECT_THAT(host.notes.warnings, IsEmpty());
    const auto picture = scene.decode(latent);
    EXPECT_THAT(host.notes.warnings,
                ElementsAre(AllOf(HasSubstr("the autoencoder gives values that are not numbers; "),
                                  HasSubstr("mid.block_1"))));
    expect_black(picture_of(picture));
}

TEST_F(BrokenWeights, AreToldAlsoWhenDecodingInTiles) {
    const auto scene = scene_with_nan_in("first_stage_model.decoder.mid.block_1.conv1.weight");
    const auto picture = host.run("VAEDecodeTiled", tiled_inputs(scene, scene.latent, 64), 1)[0];
    EXPECT_THAT(host.notes.warnings, ElementsAre(HasSubstr("mid.block_1")));
    expect_black(picture_of(picture));
}

TEST_F(BrokenWeights, AreToldAlsoWhenMemorySufficesForTilesOnly) {
    const auto scene = scene_with_nan_in("first_stage_model.decoder.mid.block_1.conv1.weight");
    const auto latent = latent_of(sampling::initial_noise({1, 4, 8, 192}, 3, {}));
    const auto need = need_of(host, [&] { (void)scene.decode(latent); });
    const auto picture = at_a_limit_that_warns(host, need, 2, [&] {
        return host.try_run("VAEDecode", {{"samples", latent}, {"vae", scene.vae}}, 1);
    });
    ASSERT_NE(picture, nullptr);
    EXPECT_THAT(host.notes.warnings,
                ElementsAre(HasSubstr("trying again in tiles"), HasSubstr("mid.block_1")));
    expect_black(picture_of(picture));
}

TEST_F(BrokenWeights, AreToldWithoutTheLayerWhenLookingForItFails) {
    const Context context{host.session(), host.notes};
    explain_non_finite(context, "the network", [](nn::LayerListener&) { throw std::bad_alloc(); });
    EXPECT_THAT(host.notes.warnings,
                ElementsAre(AllOf(HasSubstr("the network gives values that are not numbers"),
                                  HasSubstr("stays unknown"))));
    EXPECT_THROW(explain_non_finite(
                     context, "the network",
                     [](nn::LayerListener&) { throw Failure(Error{.code = Code::interrupted}); }),
                 Failure);
}

TEST(Stopping, LeavesNothingBehindWhereverItHappens) {
    TinyHost host;
    const TinyScene scene(host);
    (void)scene.decode(scene.sample());  // everything is loaded
    const auto held = host.held();
    for (const int checks : {0, 1, 10, 50}) {
        host.notes.stops_after = checks;
        const auto result = host.try_run("KSampler", scene.inputs(), 1);
        ASSERT_FALSE(result) << checks;
        EXPECT_EQ(result.error().code, Code::interrupted);
        EXPECT_EQ(host.held(), held) << checks;
    }
    for (const auto* node : {"VAEDecode", "CLIPTextEncode"}) {
        host.notes.stops_after = 1;
        const auto result = host.try_run(node,
                                         {{"samples", scene.latent},
                                          {"vae", scene.vae},
                                          {"clip", scene.clip},
                                          {"text", Json("a")}},
                                         1);
        ASSERT_FALSE(result) << node;
        EXPECT_EQ(result.error().code, Code::interrupted);
        EXPECT_EQ(host.held(), held) << node;
    }
    host.notes.stops_after = -1;
    EXPECT_TRUE(ops::is_finite(samples_of(scene.sample())));
}

TEST(Repetition, GivesTheSameBitsWhateverRanBetween) {
    TinyHost host;
    const TinyScene scene(host);
    const auto first = scene.sample();
    const auto picture = scene.decode(first);
    (void)scene.decode(host.empty_latent(128, 2));
    const auto second = scene.sample();
    EXPECT_TRUE(samples_of(second).equal(samples_of(first)));
    EXPECT_TRUE(picture_of(scene.decode(second)).equal(picture_of(picture)));
}

}  // namespace
}  // namespace ballast::runtime::nodes
