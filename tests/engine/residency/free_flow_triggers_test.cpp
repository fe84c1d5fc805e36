// What asks for memory by itself, ComfyUI-Manager's button, and looking without touching.

#include <gmock/gmock.h>

#include <latch>
#include <thread>

#include "tests/engine/residency/flow_scene.hpp"

namespace ballast::residency::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr FlowScene::Options kWatching{.server = FreeFlow::Server::present,
                                       .watches_pressure = true};
constexpr FlowScene::Options kServing{.server = FreeFlow::Server::present};

void run_prompt(FlowScene& scene) {
    scene.clock.advance(FreeFlow::kLeastPause);
    scene.flow.begin_prompt();
    static_cast<void>(scene.end_prompt());
}

TEST(FullCleanup, WritesManagersLineToTheCharacter) {
    FlowScene scene;
    for (const auto* name : {"a", "b", "c"}) scene.loaded(name, 1);
    auto used = 8_MiB;
    scene.host_used = [&] { return std::exchange(used, used + 256_KiB); };
    const std::string line =
        "[ManagerMatch] Cleanup requested (reason=manual) | models 3->3, cpu_delta_mb=0.25";
    EXPECT_EQ(scene.flow.force_full_system_cleanup("manual"), line);
    EXPECT_TRUE(scene.says(LogLevel::focus, line));
    EXPECT_TRUE(scene.says(LogLevel::focus, "full_cleanup_start:manual"));
    EXPECT_TRUE(scene.says(LogLevel::focus, "full_cleanup_requested:manual"));
    const auto answer = scene.settle().value();
    EXPECT_THAT(answer.models.freed, SizeIs(3));
    EXPECT_TRUE(answer.are_results_dropped);
}

TEST(FullCleanup, IsSkippedWhileAPromptRunsUnlessForced) {
    FlowScene scene;
    scene.flow.begin_prompt();
    EXPECT_EQ(scene.flow.force_full_system_cleanup("shy", false),
              "[ManagerMatch] Cleanup requested (reason=shy) | models 0->0, cpu_delta_mb=0.00");
    EXPECT_FALSE(scene.flow.status().has_requests);
    scene.flow.force_full_system_cleanup("bold", true);
    EXPECT_TRUE(scene.flow.status().has_requests);
    EXPECT_TRUE(scene.end_prompt().value().are_results_dropped);
    scene.flow.force_full_system_cleanup("idle", false);
    EXPECT_TRUE(scene.settle().has_value()) << "nothing runs";
}

TEST(FullCleanup, NeverUnloadsWhatIsKept) {
    FlowScene scene;
    const auto kept = scene.loaded("kept", 1, kA, kKeep);
    scene.flow.force_full_system_cleanup("manual");
    EXPECT_THAT(scene.settle().value().models.freed, IsEmpty());
    scene.expect_content(kept);
}

TEST(ExecutorReset, DropsResultsAndWhatIsFlagged) {
    FlowScene scene(kServing);
    scene.loaded("m", 1);
    const auto kept = scene.loaded("kept", 1, kA, kKeep);
    EXPECT_TRUE(scene.flow.reset_executor("manual"));
    EXPECT_TRUE(scene.says(LogLevel::focus, "executor_reset_pre-trigger (manual)"));
    EXPECT_TRUE(scene.says(LogLevel::focus, "executor_reset_post-trigger (manual)"));
    const auto answer = scene.settle().value();
    EXPECT_TRUE(answer.are_results_dropped);
    EXPECT_THAT(answer.models.freed, SizeIs(1));
    scene.expect_content(kept);
}

TEST(ExecutorReset, IsNothingWithoutAServer) {
    FlowScene scene;
    EXPECT_FALSE(scene.flow.reset_executor("manual", true));
    EXPECT_FALSE(scene.flow.status().has_requests);
    EXPECT_THAT(scene.lines->lines(LogLevel::debug), IsEmpty());
}

TEST(ExecutorReset, WaitsForNoRunningPromptUnlessForced) {
    FlowScene scene(kServing);
    scene.flow.begin_prompt();
    EXPECT_FALSE(scene.flow.reset_executor("manual"));
    EXPECT_FALSE(scene.flow.status().has_requests);
    EXPECT_THAT(scene.lines->lines(LogLevel::debug), IsEmpty());
    EXPECT_TRUE(scene.flow.reset_executor("manual", true));
    EXPECT_THAT(scene.steps, IsEmpty()) << "but takes effect after it";
    EXPECT_TRUE(scene.end_prompt().value().are_results_dropped);
}

TEST(Pressure, LeadsToAResetWithAWarningAndItsSnapshots) {
    FlowScene scene(kWatching);
    const auto kept = scene.loaded("kept", 1, kA, kKeep);
    scene.usage = 86.4;
    run_prompt(scene);
    EXPECT_TRUE(scene.says(LogLevel::focus, "cpu_monitor_trigger:86.4pct"));
    EXPECT_TRUE(scene.says(LogLevel::warning, "86.4 % of the host's memory is in use"));
    EXPECT_TRUE(scene.says(LogLevel::focus, "executor_reset_pre-trigger (cpu_threshold_exceeded)"));
    EXPECT_TRUE(
        scene.says(LogLevel::focus, "executor_reset_post-trigger (cpu_threshold_exceeded)"));
    EXPECT_TRUE(scene.flow.status().has_requests);
    EXPECT_TRUE(scene.settle().value().are_results_dropped);
    scene.expect_content(kept);
}

TEST(Pressure, FollowsTheTableOfReadings) {
    FlowScene scene(kWatching);
    const auto resets_at = [&](double usage) {
        scene.usage = usage;
        run_prompt(scene);
        return scene.settle().has_value();
    };
    EXPECT_FALSE(resets_at(80));
    EXPECT_TRUE(resets_at(86));
    EXPECT_FALSE(resets_at(90));
    EXPECT_TRUE(scene.says(LogLevel::focus, "cpu_monitor_skip_hysteresis:90.0pct"));
    EXPECT_TRUE(resets_at(91.5));
    EXPECT_FALSE(resets_at(40));
    EXPECT_TRUE(resets_at(90)) << "armed again";
}

TEST(Pressure, IsNotLookedAtWithoutAServerOrDuringAPrompt) {
    FlowScene alone({.watches_pressure = true});
    alone.usage = 99;
    run_prompt(alone);
    EXPECT_FALSE(alone.settle().has_value());

    FlowScene scene(kWatching);
    scene.usage = 99;
    scene.flow.begin_prompt();
    scene.flow.soft_empty_cache(false);
    EXPECT_FALSE(scene.flow.status().has_requests);
    EXPECT_FALSE(scene.says(LogLevel::focus, "cpu_monitor"));
}

TEST(Pressure, AResetForAnotherReasonCountsAsTheLastOne) {
    FlowScene scene(kWatching);
    scene.usage = 90;
    EXPECT_TRUE(scene.flow.reset_executor("manual"));
    EXPECT_TRUE(scene.settle().has_value());
    scene.usage = 92;
    run_prompt(scene);
    EXPECT_FALSE(scene.settle().has_value()) << "two points more are not worth another";
}

TEST(Pressure, AResetFromAnotherThreadAndTheLookAfterAPromptTakeTurns) {
    FlowScene scene(kWatching);
    std::latch has_begun{1};
    std::atomic<bool> is_reading{false};
    std::atomic<bool> have_met{false};
    scene.reading = [&] {
        if (is_reading.exchange(true)) {
            have_met = true;
            return 86.0;
        }
        if (!has_begun.try_wait()) has_begun.count_down();
        // gives the other one every chance to come in
        for (int i = 0; i < 10'000 && !have_met; ++i) std::this_thread::yield();
        is_reading = false;
        return 86.0;
    };
    std::jthread other([&] { scene.flow.reset_executor("manual", true); });
    has_begun.wait();
    scene.flow.soft_empty_cache(false);
    other.join();
    EXPECT_FALSE(have_met);
    EXPECT_EQ(scene.watch.monitor().last_reset(), 86);
    EXPECT_TRUE(scene.settle().has_value());
}

TEST(MemoryStatus, TouchesNoDeviceThatSleeps) {
    // case 18
    FlowScene scene;
    const auto m = scene.loaded("m", 2, kA);
    const auto calls = scene.machine.calls(kA);
    for (int i = 0; i < 2; ++i) {
        const auto status = scene.flow.status();
        ASSERT_THAT(status.devices, SizeIs(3)) << "all are there by name";
        EXPECT_EQ(status.devices[1].id, kA);
        EXPECT_TRUE(status.devices[1].is_awake);
        EXPECT_EQ(status.devices[1].total, blocks(24));
        EXPECT_EQ(status.devices[1].free, blocks(22));
        EXPECT_EQ(status.devices[2].id, kB);
        EXPECT_FALSE(status.devices[2].is_awake);
        EXPECT_EQ(status.devices[2].total, std::nullopt);
        EXPECT_EQ(status.devices[2].free, std::nullopt);
        EXPECT_THAT(status.models, SizeIs(1));
        EXPECT_EQ(status.ledger.at(kA).now, blocks(2));
    }
    EXPECT_EQ(scene.machine.calls(kA), calls);
    EXPECT_EQ(scene.machine.calls(kB), 0U);
    scene.expect_content(m);
}

TEST(MemoryStatus, SaysWhatIsCachedAndWhetherAPromptRuns) {
    FlowScene scene;
    scene.loaded("m", 2, kB);
    scene.registry.release_all();
    EXPECT_EQ(scene.flow.status().devices[2].cached, blocks(2));
    EXPECT_FALSE(scene.flow.status().is_running);
    scene.flow.begin_prompt();
    EXPECT_TRUE(scene.flow.status().is_running);
}

}  // namespace
}  // namespace ballast::residency::testing
