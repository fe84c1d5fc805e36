#include "ballast/runtime/sampling/model_sampling.hpp"

#include <gtest/gtest.h>

#include "tests/runtime/sampling/golden_sampling.hpp"
#include "tests/support/failures.hpp"

namespace ballast::runtime::sampling {
namespace {

using ballast::testing::code_of;
using ballast::testing::distance;
using ballast::testing::expect_near_all;
using ballast::testing::floats_of;
using ballast::testing::golden_json;
using ballast::testing::model_named;
using ballast::testing::number_of;

std::vector<float> head(const ModelSampling& model, std::size_t count) {
    const auto sigmas = model.sigmas();
    return {sigmas.begin(), sigmas.begin() + static_cast<std::ptrdiff_t>(count)};
}

class GoldenModels : public ::testing::TestWithParam<const char*> {
protected:
    const nlohmann::json golden = golden_json("schedules.json", "/models").at(GetParam());
    const ModelSampling model = *model_named(GetParam());
};

TEST_P(GoldenModels, KnowTheirSigmas) {
    const auto sigmas = model.sigmas();
    ASSERT_EQ(sigmas.size(), golden.at("table_length").get<std::size_t>());
    expect_near_all(head(model, 8), floats_of(golden.at("table_first8")), 5e-6, "first");
    expect_near_all({sigmas.end() - 8, sigmas.end()}, floats_of(golden.at("table_last8")), 5e-6,
                    "last");
    std::vector<float> sample;
    const auto stride = golden.at("table_every").at("stride").get<std::size_t>();
    for (std::size_t i = 0; i < sigmas.size(); i += stride) sample.push_back(sigmas[i]);
    expect_near_all(sample, floats_of(golden.at("table_every").at("values")), 2e-6, "sample");
}

TEST_P(GoldenModels, TellTheTimestepOfASigma) {
    for (const auto& pair : golden.at("timestep_of_sigma")) {
        const double expected = pair[1].get<double>();
        EXPECT_NEAR(model.timestep(pair[0].get<float>()), expected, 2e-6 * expected) << pair;
    }
}

TEST_P(GoldenModels, TellTheSigmaOfATimestep) {
    for (const auto& pair : golden.at("sigma_of_timestep")) {
        const double expected = pair[1].get<double>();
        EXPECT_NEAR(model.sigma(pair[0].get<float>()), expected, 5e-6 * expected) << pair;
    }
}

TEST_P(GoldenModels, TellTheSigmaOfAPercentage) {
    for (const auto& pair : golden.at("percent_to_sigma")) {
        const double expected = number_of(pair[1]);
        EXPECT_NEAR(model.sigma_of_percent(pair[0].get<double>()), expected, 5e-6 * expected)
            << pair;
    }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenModels,
                         ::testing::Values("sd15_eps", "sd15_v", "sdxl_eps", "sd15_v_zsnr",
                                           "sqrt_linear_pixart", "flow_shift1", "flow_shift3",
                                           "flow_shift8", "flow_shift6_m1", "flux_1.15"));

TEST(ModelSampling, OfADistilledModelKeepsEveryTwentiethSigmaFromTheLast) {
    const auto all = sd1_sampling();
    const ModelSampling distilled(Prediction::lcm, distilled_sigmas({}, TerminalSnr::as_trained));
    ASSERT_EQ(distilled.sigmas().size(), 50U);
    for (std::size_t i = 0; i < 50; ++i)
        EXPECT_EQ(distilled.sigmas()[i], all.sigmas()[20 * i + 19]) << i;
    EXPECT_EQ(distilled.timestep(distilled.sigma_max()), 999.0F);
    EXPECT_EQ(distilled.timestep(distilled.sigma_min()), 19.0F);
    EXPECT_NEAR(distilled.sigma(999.0F), distilled.sigma_max(), 1e-5F);
    EXPECT_NEAR(distilled.sigma(0.0F), distilled.sigma_min(), 1e-6F);
}

TEST(ModelSampling, StartsFromPureNoiseWhereTheScheduleReachesTheTop) {
    const auto model = sd1_sampling();
    EXPECT_EQ(model.start_from(model.sigma_max()), StartFrom::pure_noise);
    EXPECT_EQ(model.start_from(model.sigma_max() * (1.0F - 5e-6F)), StartFrom::pure_noise);
    EXPECT_EQ(model.start_from(20.0F), StartFrom::pure_noise);
    EXPECT_EQ(model.start_from(14.6F), StartFrom::latent);
}

struct Formula {
    const char* name;
    Prediction prediction;
    float input;     ///< of x = 3 at sigma 2
    float denoised;  ///< of output 0.5
};

class Predictions : public ::testing::TestWithParam<Formula> {};

TEST_P(Predictions, FollowTheirFormulas) {
    const Formula& formula = GetParam();
    const ModelSampling model(formula.prediction,
                              formula.prediction == Prediction::lcm
                                  ? distilled_sigmas({}, TerminalSnr::as_trained)
                                  : discrete_sigmas({}, TerminalSnr::as_trained));
    const auto x = ops::full({1}, 3.0, at::kFloat);
    const auto output = ops::full({1}, 0.5, at::kFloat);
    EXPECT_NEAR(model.network_input(2.0F, x).item<float>(), formula.input, 1e-6F);
    EXPECT_NEAR(model.denoised(2.0F, output, x).item<float>(), formula.denoised, 1e-6F);
}

// x / sqrt(5) = 1.3416408; v: 3/5 - 0.5 * 2 / sqrt(5); lcm: t = 559, nearly x - 0.5 * 2
INSTANTIATE_TEST_SUITE_P(
    All, Predictions,
    ::testing::Values(Formula{"eps", Prediction::eps, 1.3416408F, 2.0F},
                      Formula{"v", Prediction::v, 1.3416408F, 0.6F - 0.4472136F},
                      Formula{"x0", Prediction::x0, 1.3416408F, 0.5F},
                      Formula{"img_to_img", Prediction::img_to_img, 3.0F, 0.5F},
                      Formula{"lcm", Prediction::lcm, 1.3416408F, 2.0F},
                      Formula{"flow", Prediction::flow, 3.0F, 2.0F}),
    [](const auto& tested) { return tested.param.name; });

TEST(ModelSampling, OfAFlowMixesNoiseAndLatentAndUndoesIt) {
    const ModelSampling flow(Prediction::flow, flow_sigmas(3.0, 1000.0));
    const auto latent = ops::full({2}, 4.0, at::kFloat);
    const auto noise = ops::full({2}, 1.0, at::kFloat);
    EXPECT_EQ(distance(flow.noised(0.25F, noise, latent), ops::full({2}, 3.25, at::kFloat)), 0.0);
    EXPECT_EQ(distance(flow.unscaled(0.5F, latent), ops::full({2}, 8.0, at::kFloat)), 0.0);
}

TEST(ModelSampling, OfAFlowRefusesToReturnPureNoise) {
    const ModelSampling flow(Prediction::flow, flow_sigmas(3.0, 1000.0));
    const auto x = ops::full({2}, 4.0, at::kFloat);
    EXPECT_EQ(code_of([&] { (void)flow.unscaled(1.0F, x); }), Code::bad_value);
}

TEST(ModelSampling, WithoutAFamilyIsAFaultOfOurs) {
    EXPECT_EQ(code_of([] { ModelSampling(Prediction::eps, nullptr); }), Code::internal);
}

}  // namespace
}  // namespace ballast::runtime::sampling
