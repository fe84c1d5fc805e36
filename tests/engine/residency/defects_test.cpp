// Faults of the projects that Ballast follows, by their numbers in its specification: each test
// fails where the fault is.

#include <gmock/gmock.h>

#include "tests/engine/residency/flow_scene.hpp"

namespace ballast::residency::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(Defects, D08OnlyTheFlagEjectsNotTheDonorOfAnAllocation) {
    Scene scene;
    scene.loaded("old", 4);
    const auto donated = scene.model("new", 4);
    ASSERT_TRUE(scene.load(donated, scene.as("cuda:0,50%;cpu,50%#cuda:0", donated)).has_value());
    EXPECT_THAT(scene.names(), UnorderedElementsAre("old", "new")) << "there is room for both";
    const auto ejecting = scene.model("ejecting", 4);
    ASSERT_TRUE(scene.load(ejecting, Scene::on(kA, ejecting), {}, true).has_value());
    EXPECT_THAT(scene.names(), ElementsAre("ejecting"));
}

TEST(Defects, D09ALoadedModelNeedsNothingMoreWhenItIsAskedForAgain) {
    Scene scene;
    const auto split = scene.model("split", 8);
    const auto plan = scene.as("cuda:0,50%;cpu,50%#cuda:0", split);
    ASSERT_TRUE(scene.load(split, plan).has_value());
    scene.loaded("beside", 12);
    const auto read = scene.bytes_read.load();
    ASSERT_TRUE(scene.load(split, plan).has_value());
    EXPECT_EQ(scene.bytes_read, read);
    EXPECT_THAT(scene.names(), UnorderedElementsAre("split", "beside"))
        << "what it has already is not asked for a second time";
}

TEST(Defects, D14ReleasingIsSelectiveAndReachesAllDevices) {
    FlowScene scene;
    scene.loaded("flagged_a", 2, kA, kFlagged);
    scene.loaded("flagged_b", 2, kB, kFlagged);
    scene.loaded("kept_a", 2, kA, kKeep);
    scene.loaded("kept_b", 2, kB, kKeep);
    const auto answer = scene.free({.unload_models = true});
    EXPECT_THAT(answer.models.freed, SizeIs(2));
    EXPECT_THAT(scene.names(), ElementsAre("kept_a", "kept_b"));
    for (const auto card : {kA, kB}) EXPECT_EQ(scene.held(card), blocks(2));
}

TEST(Defects, D15FreeingResultsAloneDestroysNoRetainedModel) {
    FlowScene scene;
    scene.loaded("kept", 4, kA, kKeep);
    const Trace before(scene);
    EXPECT_TRUE(scene.free({.free_memory = true}).are_results_dropped);
    expect_unchanged(before, scene);
    scene.loaded("flagged", 2);
    scene.free({.unload_models = false, .free_memory = true});
    EXPECT_THAT(scene.names(), ElementsAre("kept", "flagged")) << "the explicit false counts";
}

TEST(Defects, D15TheResetForPressureKeepsRetainedModels) {
    FlowScene scene({.server = FreeFlow::Server::present, .watches_pressure = true});
    scene.loaded("kept", 4, kA, kKeep);
    scene.usage = 90;
    scene.flow.soft_empty_cache(false);
    ASSERT_TRUE(scene.settle().has_value()) << "it asked for the results to go";
    EXPECT_THAT(scene.names(), ElementsAre("kept"));
}

TEST(Defects, D16TheRegistryOwnsModelsAndNoHandleDoes) {
    FlowScene scene;
    {
        const auto handle = scene.loaded("kept", 4, kA, kKeep);
        static_cast<void>(handle);
    }
    scene.free({.unload_models = false, .free_memory = true});
    EXPECT_THAT(scene.names(), ElementsAre("kept")) << "nobody has its handle any more";
    const auto other = scene.loaded("flagged", 2, kA, kFlagged);
    scene.free({.unload_models = true});
    EXPECT_EQ(scene.held(kA), blocks(4)) << "a handle that is left keeps nothing";
    EXPECT_FALSE(scene.registry.use(other).has_value());
}

TEST(Defects, D17TheMonitorFiresAgainAfterMemoryWasFree) {
    PressureMonitor monitor;
    std::vector<PressureAction> actions;
    for (const double usage : {80.0, 86.0, 90.0, 91.5, 40.0, 90.0})
        actions.push_back(monitor.look(usage).action);
    EXPECT_THAT(actions,
                ElementsAre(PressureAction::none, PressureAction::reset, PressureAction::skip,
                            PressureAction::reset, PressureAction::none, PressureAction::reset));
}

TEST(Defects, D28EachIndexIsEmptiedNotTheCurrentDeviceAgainAndAgain) {
    FlowScene scene;
    scene.loaded("a", 2, kA, kFlagged);
    scene.loaded("b", 3, kB, kFlagged);
    const auto answer = scene.free({.unload_models = true});
    EXPECT_EQ(answer.devices.at(kA).cache_released, blocks(2));
    EXPECT_EQ(answer.devices.at(kB).cache_released, blocks(3));
}

TEST(Defects, D29TheSeriesOfSnapshotsIsBounded) {
    Scene scene;
    for (int i = 0; i < 1500; ++i) scene.memory.snapshot("general", std::to_string(i));
    const auto summary = scene.memory.series().summary("general");
    EXPECT_THAT(summary, SizeIs(1 + 1024));
    EXPECT_THAT(summary.back(), HasSubstr("general_1499"));
}

TEST(Defects, D34WhatIsUnloadedAgainAndAgainLeavesNothingBehind) {
    FlowScene scene;
    const auto source = scene.model("again", 4);
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(scene.load(source, Scene::on(kA, source), kFlagged).has_value());
        scene.free(kBoth);
        ASSERT_THAT(scene.names(), IsEmpty());
        scene.expect_nothing_held();
    }
}

}  // namespace
}  // namespace ballast::residency::testing
