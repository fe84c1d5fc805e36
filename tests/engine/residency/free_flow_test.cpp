// What goes and what stays, with the bytes of those that stay.

#include "ballast/engine/residency/free_flow.hpp"

#include <gmock/gmock.h>

#include "tests/engine/residency/flow_scene.hpp"

namespace ballast::residency::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(FreeFlow, OnlyTheFlaggedModelGoes) {
    FlowScene scene;
    const auto a = scene.loaded("a", 2, kA, kFlagged);
    const auto b = scene.loaded("b", 3, kA, kKeep);
    const auto c = scene.loaded("c", 2, kB, kPinned);
    const auto read = scene.bytes_read.load();
    const auto answer = scene.free(kBoth);
    EXPECT_THAT(scene.names(), ElementsAre("b", "c"));
    ASSERT_THAT(answer.models.freed, SizeIs(1));
    EXPECT_EQ(answer.models.freed[0].handle, a);
    EXPECT_FALSE(scene.registry.use(a).has_value());
    scene.expect_content(b);
    scene.expect_content(c);
    EXPECT_EQ(scene.bytes_read, read) << "usable without reading";
}

TEST(FreeFlow, WithAllKeptNothingHappensAndTheAnswerSaysHowToReleaseThem) {
    FlowScene scene;
    const auto d = scene.loaded("d", 2, kA, kKeep);
    const auto e = scene.loaded("e", 3, kB, kPinned);
    const Trace before(scene);
    const auto answer = scene.free(kBoth);
    expect_unchanged(before, scene);
    EXPECT_THAT(answer.models.freed, IsEmpty());
    EXPECT_THAT(answer.models.kept, SizeIs(2));
    EXPECT_THAT(answer.lines(), Contains("stays d.safetensors (unet) (2.00 MiB on cuda:0): kept by "
                                         "its flag; eject it by name, or unload all"));
    EXPECT_THAT(answer.lines(), Contains(HasSubstr("stays e.safetensors (unet) (3.00 MiB")));
    EXPECT_TRUE(scene.says(LogLevel::info, "stays d.safetensors")) << "the log says it, too";
    scene.expect_content(d);
    scene.expect_content(e);
}

TEST(FreeFlow, WithAllFlaggedNothingStays) {
    FlowScene scene;
    scene.loaded("a", 2, kA, kFlagged);
    scene.loaded("b", 2, kB);
    const auto unet = scene.model("unet", 4);
    static_cast<void>(scene.load(unet, scene.as("cuda:0,1mb;cpu,*#cuda:0", unet)).value());
    EXPECT_THAT(scene.free({.unload_models = true}).models.freed, SizeIs(3));
    EXPECT_THAT(scene.registry.models(), IsEmpty());
    scene.expect_nothing_held();
}

TEST(FreeFlow, ASecondRequestChangesNothing) {
    FlowScene scene;
    scene.loaded("a", 2, kA, kFlagged);
    const auto b = scene.loaded("b", 2, kA, kKeep);
    scene.free(kBoth);
    const Trace before(scene);
    const auto answer = scene.free(kBoth);
    expect_unchanged(before, scene);
    EXPECT_THAT(answer.models.freed, IsEmpty());
    for (const auto& [device, told] : answer.devices) {
        EXPECT_EQ(told.released, Bytes{}) << to_string(device);
        EXPECT_EQ(told.cache_released, Bytes{}) << to_string(device);
    }
    scene.expect_content(b);
}

TEST(FreeFlow, ARetainedModelOnTwoCardsAndTheHostIsUnaffected) {
    FlowScene scene;
    scene.loaded("a", 4, kA, kFlagged);
    const auto unet = scene.model("unet", 8);
    const auto text = scene.as("cuda:0,3mb;cuda:1,2mb;cpu,2mb;disk,*#cuda:0", unet);
    const auto kept = scene.load(unet, text, kKeep).value().handle;
    scene.loaded("b", 4, kB, kFlagged);
    const auto before = scene.status(kept);
    const auto* store = scene.registry.weights(kept).get();
    const auto copies = scene.transfers.counts();
    const auto answer = scene.free(kBoth);
    EXPECT_THAT(answer.models.freed, SizeIs(2));
    EXPECT_EQ(scene.status(kept), before);
    EXPECT_EQ(scene.registry.weights(kept).get(), store);
    EXPECT_EQ(scene.transfers.counts(), copies);
    scene.expect_content(kept);
}

TEST(FreeFlow, TheAnswersBytesAreExactByDeviceAndTier) {
    FlowScene scene;
    const auto unet = scene.model("unet", 8);
    const auto text = scene.as("cuda:0,3mb;cuda:1,2mb;cpu,2mb;disk,*#cuda:0", unet);
    static_cast<void>(scene.load(unet, text).value());
    scene.loaded("vae", 4, kB);
    scene.loaded("kept", 1, kB, kKeep);
    auto results = scene.ledger.reserve(kCpu, 3_MiB, device::Tag::results).value();
    scene.drop_results = [&] { results.release(); };

    const auto answer = scene.free(kBoth);
    const auto& told = answer.devices;
    EXPECT_EQ(told.at(kA).released, blocks(5)) << "three blocks and a ring of two";
    EXPECT_EQ(told.at(kA).by_tier, (std::map<Tier, Bytes>{{Tier::resident, blocks(5)}}));
    EXPECT_EQ(told.at(kB).released, blocks(6));
    EXPECT_EQ(told.at(kB).by_tier,
              (std::map<Tier, Bytes>{{Tier::resident, blocks(4)}, {Tier::peer, blocks(2)}}));
    EXPECT_EQ(told.at(kB).kept, blocks(1));
    EXPECT_EQ(told.at(kCpu).released, blocks(2) + 3_MiB) << "with the results of nodes";
    EXPECT_EQ(told.at(kCpu).by_tier, (std::map<Tier, Bytes>{{Tier::host, blocks(2)}}));
    EXPECT_EQ(told.at(kA).cache_released, blocks(5)) << "all goes on to the system";
    EXPECT_EQ(told.at(kB).cache_released, blocks(6));
    EXPECT_FALSE(told.contains(kDisk)) << "files are nobody's memory";
    EXPECT_THAT(answer.lines(),
                Contains("cuda:1: released 6.00 MiB, resident weights 4.00 MiB, peer weights 2.00 "
                         "MiB; caches 6.00 MiB; models that stay hold 1.00 MiB"));
    EXPECT_THAT(answer.lines(), Contains("dropped the results of nodes"));
}

TEST(FreeFlow, DroppedResultsTakeNoKeptModelAlong) {
    FlowScene scene;
    std::vector<ModelHandle> results{scene.loaded("kept", 2, kA, kKeep)};
    const auto handle = results[0];
    scene.drop_results = [&] { results.clear(); };
    scene.free({.free_memory = true});
    EXPECT_THAT(results, IsEmpty());
    scene.expect_content(handle);
}

TEST(FreeFlow, ResultsThatAreKeptKeepNoModelAlive) {
    FlowScene scene;
    const std::vector<ModelHandle> results{scene.loaded("m", 2)};
    scene.free({.unload_models = true, .free_memory = false});
    EXPECT_FALSE(scene.registry.is_loaded(results[0]));
    scene.expect_nothing_held();
}

TEST(FreeFlow, UnloadsEverythingOnlyByForce) {
    FlowScene scene;
    scene.loaded("kept", 2, kA, kKeep);
    scene.loaded("pinned", 2, kB, kPinned);
    scene.flow.request_unload_all();
    const auto answer = scene.settle().value();
    EXPECT_THAT(answer.models.freed, SizeIs(2));
    EXPECT_FALSE(answer.are_results_dropped) << "nobody asked for that";
    EXPECT_THAT(scene.registry.models(), IsEmpty());
    scene.expect_nothing_held();
}

TEST(FreeFlow, EjectsAKeptModelByName) {
    FlowScene scene;
    const auto one = scene.loaded("one", 2, kA, kPinned);
    const auto two = scene.loaded("two", 2, kA, kPinned);
    ASSERT_TRUE(scene.flow.request_eject("one.safetensors").has_value());
    const auto answer = scene.settle().value();
    EXPECT_FALSE(scene.registry.is_loaded(one));
    EXPECT_THAT(answer.errors, IsEmpty());
    ASSERT_THAT(answer.models.kept, SizeIs(1));
    EXPECT_EQ(answer.models.kept[0].why, KeptBecause::not_asked);
    scene.expect_content(two);
}

TEST(FreeFlow, AnUnknownNameIsRefusedAtOnceAndNothingIsAskedFor) {
    FlowScene scene;
    scene.loaded("one", 2);
    const auto refused = scene.flow.request_eject("two.safetensors");
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::not_found);
    EXPECT_THAT(refused.error().hint, HasSubstr("one.safetensors (unet)"));
    EXPECT_FALSE(scene.flow.status().has_requests);
    EXPECT_FALSE(scene.settle().has_value());
}

TEST(FreeFlow, AModelThatWentBeforeItsEjectionWasCarriedOutIsAnErrorInTheAnswer) {
    FlowScene scene;
    scene.loaded("one", 2);
    scene.loaded("two", 2);
    ASSERT_TRUE(scene.flow.request_eject("one.safetensors (unet)").has_value());
    ASSERT_TRUE(scene.flow.request_eject("one.safetensors (unet)").has_value()) << "asked twice";
    ASSERT_TRUE(scene.flow.request_eject("one.safetensors").has_value()) << "by another name";
    ASSERT_TRUE(scene.flow.request_eject("two.safetensors").has_value());
    const auto answer = scene.settle().value();
    EXPECT_THAT(answer.models.freed, SizeIs(2)) << "the others go in any case";
    EXPECT_THAT(answer.models.kept, IsEmpty());
    ASSERT_THAT(answer.errors, SizeIs(1));
    EXPECT_EQ(answer.errors[0].code, Code::not_found);
    EXPECT_THAT(answer.lines(), Contains(HasSubstr("no model named 'one.safetensors'")));
}

TEST(FreeFlow, WhatIsInUseGoesAfterTheNextPromptWithoutAnotherRequest) {
    FlowScene scene;
    const auto busy = scene.loaded("busy", 2);
    {
        const auto use = scene.registry.use(busy).value();
        const auto answer = scene.free(kBoth);
        EXPECT_THAT(answer.models.freed, IsEmpty());
        EXPECT_THAT(answer.lines(), Contains(HasSubstr("in use; goes after that")));
        scene.expect_content(busy);
    }
    scene.flow.begin_prompt();
    const auto answer = scene.end_prompt();
    ASSERT_TRUE(answer.has_value());
    EXPECT_THAT(answer->models.freed, SizeIs(1));
    EXPECT_FALSE(answer->are_results_dropped);
    scene.expect_nothing_held();
    EXPECT_FALSE(scene.settle().has_value());
}

TEST(FreeFlow, OneModelThatCannotGoDoesNotKeepTheOthers) {
    FlowScene scene;
    const auto held = scene.loaded("held", 1);
    scene.loaded("other", 2);
    const auto pin = scene.registry.weights(held)->pin({0});
    const auto answer = scene.free(kBoth);
    EXPECT_THAT(answer.models.freed, SizeIs(1));
    EXPECT_THAT(answer.lines(), Contains(HasSubstr("cannot let held.safetensors (unet) go")));
    EXPECT_EQ(answer.devices.at(kA).kept, blocks(1));
}

}  // namespace
}  // namespace ballast::residency::testing
