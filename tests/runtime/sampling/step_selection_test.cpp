#include "ballast/runtime/sampling/schedules/step_selection.hpp"

#include <gtest/gtest.h>

#include "tests/runtime/sampling/golden_sampling.hpp"
#include "tests/support/failures.hpp"

namespace ballast::runtime::sampling {
namespace {

using ballast::testing::code_of;
using ballast::testing::expect_near_all;
using ballast::testing::floats_of;
using ballast::testing::golden_json;
using ballast::testing::model_named;

TEST(StepSelection, GivesTheSamplerNodesWhatTheReferenceGives) {
    const auto cases = golden_json("schedules.json", "/ksampler_sigmas");
    for (const auto& golden : cases) {
        const auto model = model_named(golden.at("model"));
        ASSERT_TRUE(model) << golden.at("model");
        std::optional<double> denoise;
        if (!golden.at("denoise").is_null()) denoise = golden.at("denoise").get<double>();
        const std::string scheduler = golden.at("scheduler");
        expect_near_all(
            ksampler_schedule(*model, golden.at("sampler").get<std::string>(),
                              scheduler_of(scheduler), golden.at("steps").get<int>(), denoise),
            floats_of(golden.at("sigmas")), scheduler == "kl_optimal" ? 3e-5 : 5e-6, golden.dump());
    }
    EXPECT_EQ(cases.size(), 360U);
}

TEST(StepSelection, CutsSchedulesAsTheReferenceDoes) {
    const auto cases = golden_json("schedules.json", "/start_last_step");
    for (const auto& golden : cases) {
        Sigmas sigmas =
            make_schedule(scheduler_of(golden.at("scheduler").get<std::string>()),
                          *model_named(golden.at("model")), golden.at("steps").get<int>());
        if (!golden.at("start_step").is_null())
            sigmas = step_range(std::move(sigmas), golden.at("start_step").get<int>(),
                                golden.at("last_step").get<int>(),
                                golden.at("force_full_denoise").get<bool>() ? LeftoverNoise::remove
                                                                            : LeftoverNoise::keep);
        EXPECT_EQ(sigmas.empty(), golden.at("returned_latent_unchanged").get<bool>()) << golden;
        if (sigmas.empty()) continue;
        expect_near_all(sigmas, floats_of(golden.at("sigmas")), 5e-6, golden.dump());
    }
    EXPECT_EQ(cases.size(), 48U);
}

TEST(StepSelection, TakesNegativeStepsForTheFirst) {
    EXPECT_EQ(step_range({3, 2, 1, 0}, -5, 10000, LeftoverNoise::keep), (Sigmas{3, 2, 1, 0}));
    EXPECT_TRUE(step_range({3, 2, 1, 0}, 0, -1, LeftoverNoise::keep).empty());
    EXPECT_TRUE(step_range({}, 0, 10000, LeftoverNoise::remove).empty());
}

TEST(StepSelection, OfTheSchedulerNodeKeepsAtMostTheStepsAskedFor) {
    const auto model = sd1_sampling();
    EXPECT_EQ(basic_schedule(model, Scheduler::karras, 6),
              make_schedule(Scheduler::karras, model, 6));
    // ddim_uniform gives seven steps where six were asked for; the node drops the first
    EXPECT_EQ(make_schedule(Scheduler::ddim_uniform, model, 6).size(), 8U);
    EXPECT_EQ(basic_schedule(model, Scheduler::ddim_uniform, 6).size(), 7U);
    const auto part = basic_schedule(model, Scheduler::normal, 6, 0.5);
    const auto whole = make_schedule(Scheduler::normal, model, 12);
    EXPECT_EQ(part, Sigmas(whole.end() - 7, whole.end()));
    EXPECT_TRUE(basic_schedule(model, Scheduler::normal, 6, 0.0).empty());
}

TEST(StepSelection, RefusesAShareSoSmallThatTheWholeScheduleHasNoEnd) {
    EXPECT_EQ(
        code_of([] { ksampler_schedule(sd1_sampling(), "euler", Scheduler::normal, 10000, 1e-9); }),
        Code::bad_value);
}

TEST(StepSelection, SplitsSoThatBothPartsMeet) {
    const Sigmas sigmas{3, 2, 1, 0};
    EXPECT_EQ(split_sigmas(sigmas, 2), (std::pair<Sigmas, Sigmas>({3, 2, 1}, {1, 0})));
    EXPECT_EQ(split_sigmas(sigmas, 0), (std::pair<Sigmas, Sigmas>({3}, {3, 2, 1, 0})));
    EXPECT_EQ(split_sigmas(sigmas, 9), (std::pair<Sigmas, Sigmas>({3, 2, 1, 0}, {})));
    EXPECT_EQ(split_sigmas({}, 1), (std::pair<Sigmas, Sigmas>({}, {})));
}

TEST(StepSelection, TurnsSchedulesAround) {
    EXPECT_EQ(flip_sigmas({3, 2, 0}), (Sigmas{0.0001F, 2, 3}));
    EXPECT_EQ(flip_sigmas({3, 2, 1}), (Sigmas{1, 2, 3}));
    EXPECT_TRUE(flip_sigmas({}).empty());
}

}  // namespace
}  // namespace ballast::runtime::sampling
