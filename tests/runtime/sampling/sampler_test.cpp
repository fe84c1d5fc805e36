#include "ballast/runtime/sampling/samplers/sampler.hpp"

#include <gtest/gtest.h>

#include "ballast/runtime/sampling/guidance.hpp"
#include "ballast/runtime/sampling/latent.hpp"
#include "tests/runtime/sampling/analytic_denoiser.hpp"
#include "tests/runtime/sampling/golden_sampling.hpp"
#include "tests/support/failures.hpp"

namespace ballast::runtime::sampling {
namespace {

using ballast::testing::AnalyticDenoiser;
using ballast::testing::code_of;
using ballast::testing::distance;
using ballast::testing::error_of;
using ballast::testing::expect_near_all;
using ballast::testing::floats_of;
using ballast::testing::golden_json;
using ballast::testing::golden_sampling;
using ballast::testing::GoldenTensors;
using ballast::testing::model_named;

constexpr std::uint64_t kSeed = 42;

double tolerance_of(const std::string& sampler) {
    return sampler.starts_with("uni_pc") ? 2e-4 : 1e-5;
}

ModelSampling model_of(const std::string& test_case) {
    if (test_case.starts_with("flux")) return *model_named("flux_1.15");
    if (test_case.starts_with("flow")) return *model_named("flow_shift3");
    return sd1_sampling();
}

struct Recorded {
    at::Tensor x;
    std::vector<at::Tensor> steps_x;
    std::vector<int> steps;
    Sigmas sigmas;  ///< after the run
};

/// Noise in, sampler, noise out: what happens around a denoiser in every run.
Recorded run(const std::string& sampler, Denoiser& denoiser, const ModelSampling& sampling,
             Sigmas sigmas, const at::Tensor& noise, const at::Tensor& latent) {
    Recorded recorded;
    const OnStep on_step = [&](const Step& step) {
        recorded.steps_x.push_back(step.x.clone());
        recorded.steps.push_back(step.index);
    };
    StepNoise step_noise(latent, kSeed);
    const auto start = sampling.start_from(sigmas.front());
    const auto x = sampler_of(sampler).run({.denoise = denoiser,
                                            .sampling = sampling,
                                            .sigmas = sigmas,
                                            .noise = step_noise,
                                            .on_step = on_step},
                                           sampling.noised(sigmas.front(), noise, latent, start));
    recorded.x = sampling.unscaled(sigmas.back(), x);
    recorded.sigmas = std::move(sigmas);
    return recorded;
}

class GoldenSamplers : public ::testing::TestWithParam<std::string> {
protected:
    const std::string sampler = GetParam();
    const nlohmann::json golden = golden_json("samplers.json");
    const GoldenTensors tensors{golden_sampling("samplers.safetensors")};
    const at::Tensor noise = tensors["noise"];
    const at::Tensor latent = tensors["latent"];
};

TEST_P(GoldenSamplers, EndWhereTheReferenceEnds) {
    for (const auto& [name, recorded] : golden.at("cases").items()) {
        const auto& expected = recorded.at("samplers").at(sampler);
        const auto model = model_of(name);
        AnalyticDenoiser denoiser(model.is_flow() ? AnalyticDenoiser::Family::flow
                                                  : AnalyticDenoiser::Family::usual);
        const bool is_blank = recorded.at("latent") == "zeros";
        const auto result = run(sampler, denoiser, model, floats_of(recorded.at("sigmas")), noise,
                                is_blank ? ops::zeros(latent.sizes(), at::kFloat) : latent);

        EXPECT_LE(distance(result.x, tensors[name + "/" + sampler + "/x"]), tolerance_of(sampler))
            << name;
        EXPECT_EQ(denoiser.sigmas.size(), expected.at("model_calls").get<std::size_t>()) << name;
        expect_near_all(denoiser.sigmas, floats_of(expected.at("call_sigmas")), 2e-6, name);
        EXPECT_EQ(result.steps.size(), expected.at("callbacks").get<std::size_t>()) << name;
        if (expected.contains("sigmas_after_call"))
            EXPECT_EQ(result.sigmas, floats_of(expected.at("sigmas_after_call"))) << name;
        else
            EXPECT_EQ(result.sigmas, floats_of(recorded.at("sigmas"))) << name;
    }
}

TEST_P(GoldenSamplers, PassEveryStepWhereTheReferenceDoes) {
    for (const std::string name : {"eps_full", "flow_full"}) {
        const auto& recorded = golden.at("cases").at(name);
        const auto model = model_of(name);
        AnalyticDenoiser denoiser(model.is_flow() ? AnalyticDenoiser::Family::flow
                                                  : AnalyticDenoiser::Family::usual);
        const auto result = run(sampler, denoiser, model, floats_of(recorded.at("sigmas")), noise,
                                ops::zeros(latent.sizes(), at::kFloat));
        const auto steps_x = tensors[name + "/" + sampler + "/steps_x"];
        ASSERT_EQ(std::ssize(result.steps_x), steps_x.size(0));
        for (std::int64_t i = 0; i < steps_x.size(0); ++i) {
            const auto& x = result.steps_x[static_cast<std::size_t>(i)];
            // the first latents are large: fourteen times the noise
            const double allowed =
                tolerance_of(sampler) * std::max(1.0, ballast::testing::magnitude(steps_x[i]) / 10);
            EXPECT_LE(distance(x, steps_x[i]), allowed) << name << " step " << i;
        }
        EXPECT_EQ(result.steps,
                  recorded.at("samplers").at(sampler).at("step_index").get<std::vector<int>>());
    }
}

std::vector<std::string> ported() {
    std::vector<std::string> names;
    for (const auto& row : samplers())
        if (row.run != nullptr) names.emplace_back(row.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(All, GoldenSamplers, ::testing::ValuesIn(ported()),
                         [](const auto& tested) { return tested.param; });

TEST(Samplers, KeepTheLatentOutsideAMaskAsTheReferenceDoes) {
    const auto golden = golden_json("samplers.json", "/inpaint");
    const GoldenTensors tensors(golden_sampling("samplers.safetensors"));
    const auto noise = tensors["noise"];
    const auto latent = tensors["latent"];
    const auto mask = tensors["inpaint_mask"];
    for (const auto& [name, recorded] : golden.items()) {
        const auto sampler = name.substr(name.find('/') + 1);
        const auto model = model_of(name);
        AnalyticDenoiser denoiser(model.is_flow() ? AnalyticDenoiser::Family::flow
                                                  : AnalyticDenoiser::Family::usual);
        const bool draws = sampler_of(sampler).inpaint_noise == InpaintNoise::fresh;
        InpaintingDenoiser inpainting(denoiser, model, mask, latent,
                                      draws ? StepNoise(latent, kSeed).draw() : noise);
        const auto result =
            run(sampler, inpainting, model, floats_of(recorded.at("sigmas")), noise, latent);
        EXPECT_LE(distance(result.x, tensors["inpaint/" + name + "/x"]), 1e-5) << name;
        EXPECT_EQ(denoiser.sigmas.size(), recorded.at("model_calls").get<std::size_t>()) << name;
    }
    EXPECT_EQ(golden.size(), 8U);
}

TEST(Samplers, KnowAllNamesInTheOrderInWhichTheyAreOffered) {
    std::vector<std::string> names;
    for (const auto& row : samplers()) names.emplace_back(row.name);
    ASSERT_EQ(names.size(), 44U);
    EXPECT_EQ(names.front(), "euler");
    EXPECT_EQ(names[19], "dpmpp_2m_sde");
    EXPECT_EQ(names.back(), "uni_pc_bh2");
    const auto recorded = golden_json("samplers.json", "/cases/eps_full/samplers");
    EXPECT_EQ(recorded.size(), names.size());
    for (const auto& [name, _] : recorded.items())
        EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

TEST(Samplers, AreEulerForANameThatNobodyKnows) {
    EXPECT_EQ(sampler_of("no such sampler").name, "euler");
}

TEST(Samplers, ThatAreNotPortedNameThoseThatAre) {
    const auto missing = std::find_if(samplers().begin(), samplers().end(),
                                      [](const SamplerRow& row) { return row.run == nullptr; });
    if (missing == samplers().end()) GTEST_SKIP() << "every sampler is ported";
    const auto error = error_of([&] { sampler_of(missing->name); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, Code::not_available);
    EXPECT_NE(error->why.find(missing->name), std::string::npos);
    for (const auto& name : ported()) EXPECT_NE(error->hint.find(name), std::string::npos) << name;
}

class EverySampler : public ::testing::TestWithParam<std::string> {
protected:
    at::Tensor run_along(Sigmas sigmas) {
        AnalyticDenoiser denoiser(AnalyticDenoiser::Family::usual);
        const auto noise = initial_noise({1, 4, 8, 8}, 7);
        return run(GetParam(), denoiser, sd1_sampling(), std::move(sigmas), noise,
                   ops::zeros({1, 4, 8, 8}, at::kFloat))
            .x;
    }
};

TEST_P(EverySampler, GoesNowhereAlongOneSigma) {
    AnalyticDenoiser denoiser(AnalyticDenoiser::Family::usual);
    const auto noise = initial_noise({1, 4, 8, 8}, 7);
    const auto result = run(GetParam(), denoiser, sd1_sampling(), {2.0F}, noise,
                            ops::zeros({1, 4, 8, 8}, at::kFloat));
    EXPECT_LE(distance(result.x, noise.mul(2.0)), 1e-6);
    EXPECT_TRUE(denoiser.sigmas.empty());
}

TEST_P(EverySampler, StaysFiniteWhereSigmasRepeat) {
    EXPECT_TRUE(ops::is_finite(run_along({14.0F, 5.0F, 5.0F, 5.0F, 2.0F, 1.0F, 0.0F})));
}

TEST_P(EverySampler, StaysFiniteAlongARisingSchedule) {
    EXPECT_TRUE(ops::is_finite(run_along({0.01F, 0.5F, 2.0F, 10.0F})));
}

TEST_P(EverySampler, StaysFiniteWhereOneStepFallsFarBelowRounding) {
    EXPECT_TRUE(ops::is_finite(run_along({4518.0F, 0.4F, 0.03F, 0.0F})));
}

TEST_P(EverySampler, RepeatsItselfBitForBit) {
    const Sigmas sigmas{14.0F, 5.0F, 2.0F, 0.5F, 0.0F};
    EXPECT_EQ(distance(run_along(sigmas), run_along(sigmas)), 0.0);
}

INSTANTIATE_TEST_SUITE_P(All, EverySampler, ::testing::ValuesIn(ported()),
                         [](const auto& tested) { return tested.param; });

TEST(AncestralSamplers, AddNoNoiseWhereTheLowerEndRoundsToZero) {
    // sigma'^2 / sigma is lost against sigma' here; the reference then takes the estimate
    const Sigmas sigmas{4518.0F, 0.4F};
    AnalyticDenoiser denoiser(AnalyticDenoiser::Family::usual);
    const auto zeros = ops::zeros({1, 4, 8, 8}, at::kFloat);
    const auto noise = initial_noise({1, 4, 8, 8}, 7);
    const auto result = run("euler_ancestral", denoiser, sd1_sampling(), sigmas, noise, zeros);
    AnalyticDenoiser same(AnalyticDenoiser::Family::usual);
    const auto start = sd1_sampling().noised(4518.0F, noise, zeros, StartFrom::pure_noise);
    EXPECT_EQ(distance(result.x, same(start, 4518.0F)), 0.0);
}

}  // namespace
}  // namespace ballast::runtime::sampling
