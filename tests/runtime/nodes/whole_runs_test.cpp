// Whole runs of the golden checkpoint through the nodes, against the recorded reference.

#include <gtest/gtest.h>

#include <fstream>

#include "ballast/runtime/image/pixels.hpp"
#include "ballast/runtime/sampling/noise.hpp"
#include "tests/support/golden_networks.hpp"
#include "tests/support/session.hpp"

namespace ballast::runtime::nodes {
namespace {

using ballast::testing::content;
using ballast::testing::expect_close;
using ballast::testing::golden_network;
using ballast::testing::GoldenTensors;
using ballast::testing::NodeHost;
using ballast::testing::Tolerances;
using graph::Json;

const std::string kE2e = "sd15-tiny.e2e.safetensors";

Json recorded_runs() {
    std::ifstream stream(golden_network("sd15-tiny.json"));
    return Json::parse(stream).at("runs");
}

class WholeRuns : public ::testing::TestWithParam<std::string> {
protected:
    WholeRuns() {
        host_.add_model("checkpoints", golden_network("sd15-tiny.safetensors"), "tiny.safetensors");
    }

    [[nodiscard]] bool has(const std::string& name) const {
        return golden_.directory().find(GetParam() + "." + name) != nullptr;
    }
    at::Tensor golden(const std::string& name) { return golden_[GetParam() + "." + name]; }
    void expect(const at::Tensor& actual, const std::string& name) {
        const auto full = GetParam() + "." + name;
        expect_close(actual, golden_[full], tolerances_[full], full);
    }

    /// The latent as the reference got it, with mask and noise numbers.
    graph::ValuePtr latent_in(const Json& run) {
        sampling::Latent latent;
        latent.samples = golden("latent_in");
        if (has("mask")) latent.noise_mask = golden("mask");
        if (run.contains("noise_inds"))
            latent.batch_index = run.at("noise_inds").get<std::vector<std::int64_t>>();
        return std::make_shared<LatentValue>(std::move(latent));
    }

    graph::ValuePtr encode(const graph::ValuePtr& clip, const Json& text) {
        return host_.run("CLIPTextEncode", {{"clip", clip}, {"text", Json(text)}})[0];
    }

    std::vector<graph::ValuePtr> sample(const Json& run, const graph::ValuePtr& model,
                                        const graph::ValuePtr& clip) {
        NodeHost::Inputs inputs{{"model", model},
                                {"positive", encode(clip, run.at("positive"))},
                                {"negative", encode(clip, run.at("negative"))},
                                {"latent_image", latent_in(run)},
                                {"steps", run.at("steps")},
                                {"cfg", run.at("cfg")},
                                {"sampler_name", run.at("sampler")},
                                {"scheduler", run.at("scheduler")}};
        if (!run.contains("start_step")) {
            inputs.emplace("seed", run.at("seed"));
            inputs.emplace("denoise", run.at("denoise"));
            return host_.run("KSampler", std::move(inputs));
        }
        const bool keeps = run.contains("force_full_denoise") && !run.at("force_full_denoise");
        inputs.emplace("noise_seed", run.at("seed"));
        inputs.emplace("add_noise", Json(run.contains("disable_noise") ? "disable" : "enable"));
        inputs.emplace("start_at_step", run.at("start_step"));
        inputs.emplace("end_at_step", run.at("last_step"));
        inputs.emplace("return_with_leftover_noise", Json(keeps ? "enable" : "disable"));
        return host_.run("KSamplerAdvanced", std::move(inputs));
    }

    NodeHost host_;
    GoldenTensors golden_{golden_network(kE2e)};
    Tolerances tolerances_{kE2e};
};

TEST_P(WholeRuns, GiveTheReferencesLatentAndPicture) {
    const auto run = recorded_runs().at(GetParam());
    const auto loaded =
        host_.run("CheckpointLoaderSimple", {{"ckpt_name", Json("tiny.safetensors")}});
    auto model = loaded[0];
    if (GetParam().starts_with("vpred"))
        model = host_.run(
            "ModelSamplingDiscrete",
            {{"model", model}, {"sampling", Json("v_prediction")}, {"zsnr", Json(false)}})[0];

    if (!run.contains("disable_noise")) {
        std::vector<std::int64_t> numbers;
        if (run.contains("noise_inds")) numbers = run.at("noise_inds").get<decltype(numbers)>();
        expect_close(sampling::initial_noise(golden("latent_in").sizes(),
                                             run.at("seed").get<std::uint64_t>(), numbers),
                     golden("noise"), 2e-6, GetParam() + ".noise");
    }
    if (has("image_in"))
        expect(content<LatentValue>(host_.run("VAEEncode", {{"pixels", std::make_shared<ImageValue>(
                                                                           golden("image_in"))},
                                                            {"vae", loaded[2]}})[0])
                   .samples,
               "latent_in");

    const auto latent = sample(run, model, loaded[1])[0];
    expect(content<LatentValue>(latent).samples, "latent_out");
    const auto picture =
        content<ImageValue>(host_.run("VAEDecode", {{"samples", latent}, {"vae", loaded[2]}})[0]);
    expect(picture, "image");
    EXPECT_FALSE(host_.notes.steps.empty());
    EXPECT_TRUE(host_.notes.warnings.empty());

    // as saved: at most one level apart
    for (std::int64_t b = 0; b < picture.size(0); ++b) {
        const auto ours = image::to_raster(picture[b]);
        const auto theirs = image::to_raster(golden("image")[b]);
        for (std::size_t i = 0; i < ours.bytes.size(); ++i)
            ASSERT_LE(std::abs(int{ours.bytes[i]} - int{theirs.bytes[i]}), 1) << i;
    }
}

std::vector<std::string> run_names() {
    std::vector<std::string> names;
    const auto runs = recorded_runs();  // kept: items() refers to it
    for (const auto& [name, run] : runs.items()) names.push_back(name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(All, WholeRuns, ::testing::ValuesIn(run_names()),
                         [](const auto& test) { return test.param; });

TEST(RecordedRuns, AreAllCompared) { EXPECT_EQ(run_names().size(), 22U); }

}  // namespace
}  // namespace ballast::runtime::nodes
