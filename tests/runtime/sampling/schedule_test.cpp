#include "ballast/runtime/sampling/schedules/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/runtime/sampling/golden_sampling.hpp"
#include "tests/support/failures.hpp"

namespace ballast::runtime::sampling {
namespace {

using ballast::testing::code_of;
using ballast::testing::expect_near_all;
using ballast::testing::floats_of;
using ballast::testing::golden_json;
using ballast::testing::model_named;

/// The reference's fp32 tangent is that far off near pi / 2.
double tolerance_of(const std::string& scheduler, const std::string& model) {
    if (scheduler == "kl_optimal") return model == "sd15_v_zsnr" ? 1.5e-4 : 3e-5;
    return 5e-6;
}

TEST(Schedules, EqualTheRecordedOnes) {
    const auto models = golden_json("schedules.json", "/models");
    int compared = 0;
    for (const auto& [model_name, golden] : models.items()) {
        const auto model = model_named(model_name);
        if (!model) continue;
        for (const auto& [name, by_steps] : golden.at("schedules").items()) {
            for (const auto& [steps, sigmas] : by_steps.items()) {
                if (name == "kl_optimal" && steps == "1") continue;  // not a number there
                expect_near_all(make_schedule(scheduler_of(name), *model, std::stoi(steps)),
                                floats_of(sigmas), tolerance_of(name, model_name),
                                model_name + " " + name + " " + steps);
                ++compared;
            }
        }
    }
    EXPECT_EQ(compared, 10 * (9 * 4 - 1));
}

TEST(Schedules, KnowTheirNamesAndTakeSimpleForOthers) {
    for (const auto name : scheduler_names())
        EXPECT_EQ(scheduler_names()[static_cast<std::size_t>(scheduler_of(name))], name);
    EXPECT_EQ(scheduler_names().size(), 9U);
    EXPECT_EQ(scheduler_of("no such scheduler"), Scheduler::simple);
}

class EverySchedule : public ::testing::TestWithParam<int> {};

TEST_P(EverySchedule, FallsFromNearTheTopToZero) {
    const auto scheduler = static_cast<Scheduler>(GetParam());
    for (const auto& model : {sd1_sampling(), *model_named("sd15_v_zsnr"),
                              *model_named("flow_shift3"), *model_named("flux_1.15")}) {
        for (const int steps : {1, 2, 3, 7, 20, 33, 100, 999}) {
            const auto sigmas = make_schedule(scheduler, model, steps);
            ASSERT_GE(sigmas.size(), 2U);
            EXPECT_TRUE(std::is_sorted(sigmas.rbegin(), sigmas.rend())) << steps;
            EXPECT_EQ(sigmas.back(), 0.0F);
            EXPECT_GT(sigmas[sigmas.size() - 2], 0.0F);
            EXPECT_LE(sigmas.front(), model.sigma_max() * 1.00001F);
        }
    }
}

TEST_P(EverySchedule, RefusesStepsThatAreNone) {
    const auto scheduler = static_cast<Scheduler>(GetParam());
    for (const int steps : {0, -1, 1'000'001})
        EXPECT_EQ(code_of([&] { make_schedule(scheduler, sd1_sampling(), steps); }),
                  Code::bad_value);
}

INSTANTIATE_TEST_SUITE_P(All, EverySchedule, ::testing::Range(0, 9));

TEST(Schedules, OfOneOptimalStepGoStraightDown) {
    EXPECT_EQ(make_schedule(Scheduler::kl_optimal, sd1_sampling(), 1),
              (Sigmas{sd1_sampling().sigma_max(), 0.0F}));
}

TEST(Schedules, MeetTheirEndsExactlyEnough) {
    const auto karras = karras_schedule(12, 0.5, 80.0, 3.0);
    EXPECT_NEAR(karras.front(), 80.0F, 80.0F * 1e-6F);
    EXPECT_NEAR(karras[11], 0.5F, 0.5F * 2e-6F);
    const auto exponential = exponential_schedule(12, 0.5, 80.0);
    EXPECT_NEAR(exponential.front(), 80.0F, 80.0F * 1e-6F);
    EXPECT_NEAR(exponential[11], 0.5F, 0.5F * 2e-6F);
    const float ratio = exponential[1] / exponential[0];
    for (std::size_t i = 1; i < 12; ++i)
        EXPECT_NEAR(exponential[i] / exponential[i - 1], ratio, 1e-5F);
}

TEST(Schedules, RefuseSigmasThatHaveNoLogarithm) {
    EXPECT_EQ(code_of([] { karras_schedule(5, 0.0, 10.0); }), Code::bad_value);
    EXPECT_EQ(code_of([] { karras_schedule(5, 0.1, 10.0, 0.0); }), Code::bad_value);
    EXPECT_EQ(code_of([] { karras_schedule(0, 0.1, 10.0); }), Code::bad_value);
    EXPECT_EQ(code_of([] { exponential_schedule(5, 0.1, 0.0); }), Code::bad_value);
    EXPECT_EQ(code_of([] { exponential_schedule(5, std::nan(""), 10.0); }), Code::bad_value);
}

}  // namespace
}  // namespace ballast::runtime::sampling
