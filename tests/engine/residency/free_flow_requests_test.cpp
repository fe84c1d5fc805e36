// When requests take effect, and what several of them come to.

#include <gmock/gmock.h>

#include <thread>

#include "tests/engine/residency/flow_scene.hpp"

namespace ballast::residency::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Flag = std::optional<bool>;
constexpr Flag kOpen = std::nullopt;

struct Row {
    Flag unload_models;
    Flag free_memory;
    bool is_answered;
    bool unloads;
    bool drops_results;
};

class FreeFlagsTable : public ::testing::TestWithParam<Row> {};

TEST_P(FreeFlagsTable, WhatIsLeftOpenFollowsFromTheOtherAndAnExplicitNoCounts) {
    const auto& row = GetParam();
    FlowScene scene;
    scene.loaded("flagged", 1, kA, kFlagged);
    scene.loaded("kept", 1, kA, kKeep);
    const Trace before(scene);
    scene.flow.request({.unload_models = row.unload_models, .free_memory = row.free_memory});
    EXPECT_EQ(scene.flow.status().has_requests, row.is_answered);
    const auto answer = scene.settle();
    ASSERT_EQ(answer.has_value(), row.is_answered);
    if (row.unloads)
        EXPECT_THAT(scene.names(), ElementsAre("kept"));
    else
        expect_unchanged(before, scene);
    if (!answer) return;
    EXPECT_EQ(answer->are_results_dropped, row.drops_results);
    EXPECT_EQ(scene.steps,
              (row.drops_results ? std::vector<std::string>{"results", "kept", "caches"}
                                 : std::vector<std::string>{"kept", "caches"}));
    for (const auto& kept : answer->models.kept)
        EXPECT_EQ(kept.why, row.unloads ? KeptBecause::retained : KeptBecause::not_asked);
}

INSTANTIATE_TEST_SUITE_P(
    All, FreeFlagsTable,
    ::testing::Values(Row{kOpen, kOpen, false, false, false}, Row{kOpen, true, true, true, true},
                      Row{kOpen, false, false, false, false}, Row{true, kOpen, true, true, false},
                      Row{true, true, true, true, true}, Row{true, false, true, true, false},
                      Row{false, kOpen, false, false, false}, Row{false, true, true, false, true},
                      Row{false, false, false, false, false}));

TEST(FreeRequest, IsCarriedOutAtOnceWhileNothingRuns) {
    FlowScene scene;
    scene.loaded("m", 1);
    scene.flow.request(kBoth);
    EXPECT_TRUE(scene.settle().has_value());
    EXPECT_FALSE(scene.settle().has_value()) << "once";
}

TEST(FreeRequest, TakesEffectAfterThePromptAndNeverInTheMiddle) {
    FlowScene scene;
    const auto m = scene.loaded("m", 2, kA, kFlagged);
    scene.flow.begin_prompt();
    scene.flow.request(kBoth);
    const Trace before(scene);
    EXPECT_FALSE(scene.settle().has_value());
    expect_unchanged(before, scene);
    EXPECT_THAT(scene.steps, IsEmpty());
    EXPECT_TRUE(scene.flow.status().is_running);
    EXPECT_TRUE(scene.flow.status().has_requests);
    scene.expect_content(m);

    const auto answer = scene.end_prompt();
    ASSERT_TRUE(answer.has_value());
    EXPECT_THAT(answer->models.freed, SizeIs(1));
    EXPECT_FALSE(scene.flow.status().is_running);
    EXPECT_FALSE(scene.flow.status().has_requests);
    scene.expect_nothing_held();
}

TEST(FreeRequest, FromAnotherThreadWaitsForTheEndOfThePrompt) {
    FlowScene scene;
    const auto m = scene.loaded("m", 2, kA, kPinned);
    scene.flow.begin_prompt();
    std::thread([&] {
        scene.flow.request(kBoth);
        EXPECT_TRUE(scene.flow.request_eject("m.safetensors").has_value());
    }).join();
    EXPECT_TRUE(scene.registry.is_loaded(m));
    scene.expect_content(m);
    EXPECT_THAT(scene.end_prompt().value().models.freed, SizeIs(1));
}

TEST(FreeRequest, FromManyThreadsBesidePromptsIsNeverLost) {
    FlowScene scene;
    const auto m = scene.model("m", 1);
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 3; ++t)
            threads.emplace_back([&] {
                for (int i = 0; i < 20; ++i) {
                    scene.flow.request({.unload_models = true});
                    static_cast<void>(
                        scene.registry.set_retention("m.safetensors", Retention::release));
                    static_cast<void>(scene.flow.status());
                }
            });
        for (int i = 0; i < 20; ++i) {
            scene.flow.begin_prompt();
            const auto handle = scene.load(m, Scene::on(kA, m)).value().handle;
            scene.expect_content(handle);
            scene.end_prompt();
        }
    }
    static_cast<void>(scene.settle());
    EXPECT_FALSE(scene.flow.status().has_requests);
    scene.free({.unload_models = true});
    scene.expect_nothing_held();
}

TEST(FreeRequest, SeveralAreJoinedIntoOneAnswer) {
    FlowScene scene;
    scene.loaded("flagged", 1, kA, kFlagged);
    scene.loaded("pinned", 1, kA, kPinned);
    scene.loaded("kept", 1, kB, kKeep);
    scene.flow.begin_prompt();
    scene.flow.request({.unload_models = true});
    scene.flow.request({.unload_models = false, .free_memory = true});
    ASSERT_TRUE(scene.flow.request_eject("pinned.safetensors (unet)").has_value());
    const auto answer = scene.end_prompt().value();
    EXPECT_THAT(answer.models.freed, SizeIs(2)) << "no request takes back another";
    EXPECT_TRUE(answer.are_results_dropped);
    ASSERT_THAT(answer.models.kept, SizeIs(1));
    EXPECT_EQ(answer.models.kept[0].why, KeptBecause::retained);
    EXPECT_THAT(scene.steps, ElementsAre("results", "kept", "caches"));
    EXPECT_FALSE(scene.settle().has_value());
}

TEST(FreeRequest, ForceWinsOverFlagsItMeets) {
    FlowScene scene;
    scene.loaded("pinned", 1, kA, kPinned);
    scene.flow.request({.unload_models = false, .free_memory = true});
    scene.flow.request_unload_all();
    const auto answer = scene.settle().value();
    EXPECT_THAT(answer.models.freed, SizeIs(1));
    EXPECT_TRUE(answer.are_results_dropped);
}

TEST(FreeRequest, AFlagThatIsSetWhileModelsGoIsNoFault) {
    FlowScene scene;
    const auto kept = scene.loaded("kept", 1, kA, kKeep);
    scene.loaded("m", 1);
    // somebody's call comes after the flow has looked at what is loaded
    scene.on_reading = [&] {
        static_cast<void>(scene.registry.set_retention("kept.safetensors", Retention::keep));
    };
    EXPECT_NO_THROW(scene.free(kBoth));
    EXPECT_EQ(scene.status(kept).retention, kPinned);
}

}  // namespace
}  // namespace ballast::residency::testing
