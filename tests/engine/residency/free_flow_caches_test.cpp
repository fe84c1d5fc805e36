// Allocators' caches, and the order of the steps.

#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/engine/residency/flow_scene.hpp"

namespace ballast::residency::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr Nanoseconds kSecond{1'000'000'000};

Bytes cached(const Scene& scene, DeviceId device) {
    return scene.machine.devices().find(device)->memory().cached;
}

/// Models come and go on both cards, whose allocators keep the memory.
void fill_caches(FlowScene& scene) {
    scene.loaded("on_a", 2, kA);
    scene.loaded("on_b", 3, kB);
    scene.registry.release_all();
    ASSERT_EQ(cached(scene, kA), blocks(2));
    ASSERT_EQ(cached(scene, kB), blocks(3));
}

TEST(FreeFlowOrder, ReferencesGoFirstThenResultsThenWhatIsKeptAndCachesLast) {
    // case 37
    FlowScene scene;
    scene.loaded("m", 2);
    scene.free(kBoth);
    EXPECT_THAT(scene.steps, ElementsAre("results", "kept", "caches"));
    EXPECT_THAT(scene.models_then, Each(0U)) << "models went before any of it";
    EXPECT_EQ(cached(scene, kA), Bytes{}) << "what they left has gone on to the system";
}

TEST(FreeFlowOrder, IsToldByTheSnapshots) {
    FlowScene scene;
    scene.loaded("m", 2);
    const auto told_before = scene.lines->lines(LogLevel::focus).size();
    scene.free(kBoth);
    const auto told = scene.lines->lines(LogLevel::focus);
    const std::vector<std::string> tags{"free_memory_pre ",           "general_pre-empty:cuda:0 ",
                                        "general_pre-empty:cuda:1 ",  "general_post-empty:cuda:0 ",
                                        "general_post-empty:cuda:1 ", "free_memory_post "};
    ASSERT_EQ(told.size() - told_before, tags.size());
    for (std::size_t i = 0; i < tags.size(); ++i)
        EXPECT_THAT(told[told_before + i], HasSubstr(tags[i]));
}

TEST(FreeFlowOrder, TheProcessIsMeasuredBeforeAnythingGoesAndAfterAllHasGone) {
    FlowScene scene;
    scene.loaded("m", 2);
    std::vector<std::size_t> steps_before;
    scene.resident = [&] {
        steps_before.push_back(scene.steps.size());
        return scene.registry.models().empty() ? 5_MiB : 7_MiB;
    };
    const auto answer = scene.free(kBoth);
    EXPECT_THAT(steps_before, ElementsAre(0U, 3U));
    EXPECT_EQ(answer.resident_before, 7_MiB);
    EXPECT_EQ(answer.resident_after, 5_MiB);
    EXPECT_THAT(answer.lines(), Contains("the process had 7.00 MiB in the host's memory, and has "
                                         "5.00 MiB"));
}

TEST(FreeFlowOrder, AProcessThatNobodyMeasuresIsNotToldOf) {
    FlowScene scene;
    const auto answer = scene.free({.free_memory = true});
    EXPECT_EQ(answer.resident_before, std::nullopt);
    for (const auto& line : answer.lines()) EXPECT_THAT(line, Not(HasSubstr("the process had")));
}

TEST(FreeFlowCaches, AreEmptiedOnAllDevicesAlsoWhenNothingIsFlagged) {
    FlowScene scene;
    fill_caches(scene);
    const auto kept = scene.loaded("kept", 1, kA, kKeep);
    const auto answer = scene.free({.unload_models = true});
    EXPECT_THAT(answer.models.freed, IsEmpty());
    EXPECT_EQ(answer.devices.at(kA).cache_released, blocks(1)) << "one of two was used again";
    EXPECT_EQ(answer.devices.at(kB).cache_released, blocks(3));
    EXPECT_EQ(answer.devices.at(kA).released, Bytes{}) << "a cache is nobody's account";
    EXPECT_EQ(cached(scene, kA), Bytes{});
    EXPECT_EQ(cached(scene, kB), Bytes{});
    scene.expect_content(kept);
}

TEST(FreeFlowCaches, OneFailingDeviceDoesNotStopTheOthersAndIsTold) {
    FlowScene scene;
    fill_caches(scene);
    scene.machine.inject(kA, {.empty_cache = true});
    const auto answer = scene.free({.free_memory = true});
    ASSERT_TRUE(answer.devices.at(kA).error.has_value());
    EXPECT_EQ(answer.devices.at(kA).error->code, Code::io);
    EXPECT_FALSE(answer.devices.at(kB).error.has_value());
    EXPECT_EQ(cached(scene, kA), blocks(2));
    EXPECT_EQ(cached(scene, kB), Bytes{});
    EXPECT_THAT(answer.lines(), Contains(HasSubstr(to_string(*answer.devices.at(kA).error))));
    EXPECT_TRUE(answer.are_results_dropped);
}

TEST(FreeFlowCaches, OfADeviceThatSleepsAreLeftAlone) {
    FlowScene scene;
    scene.loaded("m", 2, kA);
    const auto answer = scene.free(kBoth);
    EXPECT_EQ(scene.machine.calls(kB), 0U);
    const auto told = std::ranges::find(answer.caches, kB, &CacheReport::device);
    ASSERT_NE(told, answer.caches.end());
    EXPECT_TRUE(told->is_asleep);
}

TEST(FreeFlowCaches, AfterAPromptAreEmptiedSoftlyAndNotTooOften) {
    FlowScene scene;
    const auto run = [&] {
        scene.flow.begin_prompt();
        EXPECT_FALSE(scene.end_prompt().has_value());
    };
    fill_caches(scene);
    run();
    EXPECT_THAT(scene.steps, ElementsAre("caches softly"));
    EXPECT_EQ(cached(scene, kA), Bytes{});
    EXPECT_EQ(cached(scene, kB), Bytes{});
    scene.clock.advance(FreeFlow::kLeastPause - Nanoseconds{1});
    run();
    EXPECT_THAT(scene.steps, SizeIs(1));
    scene.clock.advance(Nanoseconds{1});
    run();
    EXPECT_THAT(scene.steps, ElementsAre("caches softly", "caches softly"));
    EXPECT_EQ(FreeFlow::kLeastPause, 10 * kSecond);
}

TEST(FreeFlowCaches, ARequestEmptiesThemWhateverTheTimeAndCountsAsTheLast) {
    FlowScene scene;
    scene.flow.begin_prompt();
    scene.end_prompt();
    scene.clock.advance(kSecond);
    scene.free({.unload_models = true});
    EXPECT_THAT(scene.steps, ElementsAre("caches softly", "kept", "caches"));
    scene.clock.advance(FreeFlow::kLeastPause - kSecond);
    scene.flow.begin_prompt();
    scene.end_prompt();
    EXPECT_THAT(scene.steps, SizeIs(3)) << "ten seconds after the prompt, nine after the request";
}

TEST(FreeFlowCaches, WithoutAPromptOrARequestStayAsTheyAre) {
    FlowScene scene;
    fill_caches(scene);
    EXPECT_FALSE(scene.settle().has_value());
    EXPECT_THAT(scene.steps, IsEmpty());
    EXPECT_EQ(cached(scene, kA), blocks(2));
}

TEST(SoftEmpty, ByForceDropsResultsAndWhatIsFlaggedNext) {
    FlowScene scene({.server = FreeFlow::Server::present});
    fill_caches(scene);
    scene.loaded("m", 1);
    EXPECT_THAT(scene.flow.soft_empty_cache(true), SizeIs(3)) << "the host and two cards";
    EXPECT_THAT(scene.steps, ElementsAre("caches"));
    EXPECT_TRUE(scene.says(LogLevel::focus, "executor_reset_pre-trigger (forced_soft_empty)"));
    const auto answer = scene.settle();
    ASSERT_TRUE(answer.has_value());
    EXPECT_TRUE(answer->are_results_dropped);
    EXPECT_THAT(answer->models.freed, SizeIs(1));
}

TEST(SoftEmpty, WithoutForceOnlyEmptiesCaches) {
    FlowScene scene({.server = FreeFlow::Server::present});
    scene.loaded("m", 1);
    scene.flow.soft_empty_cache(false);
    EXPECT_THAT(scene.steps, ElementsAre("caches softly"));
    EXPECT_TRUE(scene.says(LogLevel::focus, "general_post-soft-empty "));
    EXPECT_FALSE(scene.settle().has_value());
}

TEST(FreeFlowChecks, ADeviceThatNobodyAskedIsAFaultOfOurs) {
    FlowScene checked;
    checked.told_of_caches.emplace();
    checked.flow.request({.unload_models = true});
    EXPECT_THROW(checked.settle(), std::logic_error);

    FlowScene unchecked({.checks = FreeFlow::Checks::off});
    unchecked.told_of_caches.emplace();
    unchecked.flow.request({.unload_models = true});
    EXPECT_NO_THROW(unchecked.settle());
}

}  // namespace
}  // namespace ballast::residency::testing
