// Different nodes for the same thing give the same bits, and options that change nothing change
// nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ballast/runtime/tensor/ops.hpp"
#include "tests/support/tiny_host.hpp"

namespace ballast::runtime::nodes {
namespace {

using ballast::testing::content;
using ballast::testing::distance;
using ballast::testing::latent_of;
using ballast::testing::NodeHost;
using ballast::testing::picture_of;
using ballast::testing::samples_of;
using ballast::testing::TinyHost;
using ballast::testing::TinyScene;
using graph::Json;
using graph::ValuePtr;
using ::testing::HasSubstr;

class OneScene : public ::testing::Test {
protected:
    ValuePtr one(const std::string& node, NodeHost::Inputs inputs) {
        return host.run(node, std::move(inputs), 1)[0];
    }
    ValuePtr euler() { return one("KSamplerSelect", {{"sampler_name", Json("euler")}}); }
    ValuePtr schedule() {
        return one("BasicScheduler", {{"model", scene.model},
                                      {"scheduler", Json("normal")},
                                      {"steps", Json(2)},
                                      {"denoise", Json(1.0)}});
    }
    ValuePtr noise() { return one("RandomNoise", {{"noise_seed", Json(7)}}); }
    ValuePtr guider(double cfg) {
        return one("CFGGuider", {{"model", scene.model},
                                 {"positive", scene.positive},
                                 {"negative", scene.negative},
                                 {"cfg", Json(cfg)}});
    }
    std::vector<ValuePtr> custom(const ValuePtr& sigmas, const ValuePtr& latent, bool add_noise) {
        return host.run("SamplerCustom",
                        {{"model", scene.model},
                         {"add_noise", Json(add_noise)},
                         {"noise_seed", Json(7)},
                         {"cfg", Json(5.0)},
                         {"positive", scene.positive},
                         {"negative", scene.negative},
                         {"sampler", euler()},
                         {"sigmas", sigmas},
                         {"latent_image", latent}},
                        2);
    }
    std::vector<ValuePtr> advanced(const ValuePtr& start, const ValuePtr& with) {
        return host.run("SamplerCustomAdvanced",
                        {{"noise", start},
                         {"guider", with},
                         {"sampler", euler()},
                         {"sigmas", schedule()},
                         {"latent_image", scene.latent}},
                        2);
    }
    ValuePtr sample_with(const std::string& input, const ValuePtr& value) {
        auto inputs = scene.inputs();
        inputs[input] = value;
        return one("KSampler", std::move(inputs));
    }
    static bool same(const ValuePtr& a, const ValuePtr& b) {
        return samples_of(a).equal(samples_of(b));
    }
    TinyHost host;
    TinyScene scene{host};
};

TEST_F(OneScene, IsSampledAlikeByKSamplerAndByItsParts) {
    const auto expected = scene.sample();
    EXPECT_TRUE(same(custom(schedule(), scene.latent, true)[0], expected));
    EXPECT_TRUE(same(advanced(noise(), guider(5.0))[0], expected));
}

TEST_F(OneScene, IsSampledInTwoStretchesAsInOne) {
    const auto sigmas = host.run("SplitSigmas", {{"sigmas", schedule()}, {"step", Json(1)}}, 2);
    const auto half = custom(sigmas[0], scene.latent, true)[0];
    EXPECT_LT(distance(custom(sigmas[1], half, false)[0], scene.sample()), 1e-4F);
}

TEST_F(OneScene, HasTheLastEstimateAsDenoisedOutput) {
    const auto both = custom(schedule(), scene.latent, true);
    EXPECT_LT(distance(both[0], both[1]), 1e-4F);  // the schedule ends at zero
}

TEST_F(OneScene, IsSampledByBasicGuiderAsWithoutGuidance) {
    const auto basic =
        one("BasicGuider", {{"model", scene.model}, {"conditioning", scene.positive}});
    EXPECT_LT(distance(advanced(noise(), basic)[0], advanced(noise(), guider(1.0))[0]), 1e-4F);
}

TEST_F(OneScene, IsSampledFromTheLatentAloneWithoutNoise) {
    const auto quiet = advanced(one("DisableNoise", {}), guider(5.0))[0];
    EXPECT_TRUE(ops::is_finite(samples_of(quiet)));
    EXPECT_TRUE(same(quiet, custom(schedule(), scene.latent, false)[0]));
    EXPECT_FALSE(same(quiet, scene.sample()));
}

TEST_F(OneScene, ReturnsTheLatentForAnEmptySchedule) {
    const auto none = one("BasicScheduler", {{"model", scene.model},
                                             {"scheduler", Json("normal")},
                                             {"steps", Json(2)},
                                             {"denoise", Json(0.0)}});
    EXPECT_TRUE(same(custom(none, scene.latent, true)[0], scene.latent));
}

TEST_F(OneScene, IsNotChangedByConditioningThatSaysTheSame) {
    const auto expected = scene.sample();
    const auto whole = std::make_shared<MaskValue>(ops::full({1, 64, 64}, 1.0, at::kFloat));
    EXPECT_LT(distance(sample_with("positive", one("ConditioningAverage",
                                                   {{"conditioning_to", scene.positive},
                                                    {"conditioning_from", scene.negative},
                                                    {"conditioning_to_strength", Json(1.0)}})),
                       expected),
              1e-5F);
    EXPECT_LT(distance(sample_with("positive", one("ConditioningCombine",
                                                   {{"conditioning_1", scene.positive},
                                                    {"conditioning_2", scene.positive}})),
                       expected),
              1e-3F);
    EXPECT_LT(distance(sample_with("positive", one("ConditioningSetMask",
                                                   {{"conditioning", scene.positive},
                                                    {"mask", whole},
                                                    {"strength", Json(1.0)},
                                                    {"set_cond_area", Json("default")}})),
                       expected),
              1e-3F);
    EXPECT_TRUE(same(sample_with("positive", one("ConditioningSetTimestepRange",
                                                 {{"conditioning", scene.positive},
                                                  {"start", Json(0.0)},
                                                  {"end", Json(1.0)}})),
                     expected));
}

TEST_F(OneScene, IsChangedByEveryWayToSayItDifferently) {
    const auto expected = scene.sample();
    const auto half = ops::full({1, 64, 64}, 0.0, at::kFloat);
    half.slice(2, 0, 32).fill_(1.0);
    const std::map<std::string, NodeHost::Inputs> changes{
        {"ConditioningConcat",
         {{"conditioning_to", scene.positive}, {"conditioning_from", scene.negative}}},
        {"ConditioningZeroOut", {{"conditioning", scene.positive}}},
        {"ConditioningSetArea",
         {{"conditioning", scene.positive},
          {"width", Json(32)},
          {"height", Json(64)},
          {"x", Json(0)},
          {"y", Json(0)},
          {"strength", Json(1.0)}}},
        {"ConditioningSetMask",
         {{"conditioning", scene.positive},
          {"mask", std::make_shared<MaskValue>(half)},
          {"strength", Json(1.0)},
          {"set_cond_area", Json("mask bounds")}}},
        {"ConditioningSetTimestepRange",
         {{"conditioning", scene.positive}, {"start", Json(0.0)}, {"end", Json(0.4)}}},
    };
    for (const auto& [node, inputs] : changes) {
        const auto latent = sample_with("positive", one(node, inputs));
        EXPECT_TRUE(ops::is_finite(samples_of(latent))) << node;
        EXPECT_FALSE(same(latent, expected)) << node;
    }
}

TEST_F(OneScene, IsSampledWhereTheMaskSaysAndKeptElsewhere) {
    const auto mask = ops::full({1, 64, 64}, 0.0, at::kFloat);
    mask.slice(1, 0, 32).fill_(1.0);
    const auto masked =
        one("SetLatentNoiseMask", {{"samples", latent_of(ops::full({1, 4, 8, 8}, 0.7, at::kFloat))},
                                   {"mask", std::make_shared<MaskValue>(mask)}});
    const auto result = sample_with("latent_image", masked);
    const auto kept = samples_of(result).slice(2, 5);
    EXPECT_LT(kept.sub(0.7).abs().max().item<float>(), 1e-5F);
    EXPECT_GT(samples_of(result).slice(2, 0, 3).sub(0.7).abs().max().item<float>(), 1e-2F);
    EXPECT_TRUE(content<LatentValue>(result).noise_mask.defined());
}

TEST_F(OneScene, IsDecodedInOneTileAsInNone) {
    const auto latent = scene.sample();
    const auto tiled = one("VAEDecodeTiled", {{"samples", latent},
                                              {"vae", scene.vae},
                                              {"tile_size", Json(512)},
                                              {"overlap", Json(64)},
                                              {"temporal_size", Json(64)},
                                              {"temporal_overlap", Json(8)}});
    EXPECT_LT(picture_of(tiled).sub(picture_of(scene.decode(latent))).abs().max().item<float>(),
              1e-4F);
}

TEST_F(OneScene, CannotBeSampledBySamplersThatAreNotPorted) {
    auto inputs = scene.inputs();
    inputs["sampler_name"] = Json("sa_solver");
    const auto result = host.try_run("KSampler", std::move(inputs), 1);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::not_available);
    EXPECT_THAT(result.error().hint, HasSubstr("euler"));
    EXPECT_EQ(result.error().place.node, "1");
}

TEST_F(OneScene, CannotBeSampledWithTextOfAnotherWidth) {
    sampling::ConditioningEntry entry;
    entry.embedding = ops::zeros({1, 77, 24}, at::kFloat);
    auto inputs = scene.inputs();
    inputs["positive"] = std::make_shared<ConditioningValue>(sampling::Conditioning{entry});
    const auto result = host.try_run("KSampler", std::move(inputs), 1);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::bad_value) << to_string(result.error());
    EXPECT_THAT(result.error().why, HasSubstr("24"));
}

TEST_F(OneScene, RefusesLatentsOfAnotherModel) {
    const auto latent = latent_of(ops::full({1, 16, 8, 8}, 1.0, at::kFloat));
    auto inputs = scene.inputs();
    inputs["latent_image"] = latent;
    for (const auto& result :
         {host.try_run("KSampler", std::move(inputs), 1),
          host.try_run("VAEDecode", {{"samples", latent}, {"vae", scene.vae}}, 1)}) {
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, Code::bad_value) << to_string(result.error());
        EXPECT_THAT(result.error().why, HasSubstr("16"));
    }
}

TEST_F(OneScene, SkipsEmbeddingsOfAnotherWidthWithAWarning) {
    ballast::testing::write_safetensors(
        host.path() / "rows",
        {ballast::testing::stored_floats("emb_params", {1, 24}, std::vector<float>(24, 1.0F))});
    host.add_model("embeddings", host.path() / "rows", "wide.safetensors");
    const auto with = host.encode(scene.clip, "a embedding:wide cat");
    ASSERT_EQ(host.notes.warnings.size(), 1U);
    EXPECT_THAT(host.notes.warnings[0], HasSubstr("wide"));
    EXPECT_TRUE(content<ConditioningValue>(with)[0].embedding.equal(
        content<ConditioningValue>(host.encode(scene.clip, "a cat"))[0].embedding));
}

}  // namespace
}  // namespace ballast::runtime::nodes
