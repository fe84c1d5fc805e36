// Who makes room for whom, with real bytes.

#include <gmock/gmock.h>

#include "tests/engine/residency/residency_scene.hpp"

namespace ballast::residency::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::vector<std::string> names_of(const std::vector<FreedModel>& models) {
    std::vector<std::string> names;
    for (const auto& model : models) names.push_back(model.name.substr(0, model.name.find('.')));
    return names;
}

TEST(Eviction, GoesOnlyWherePressureIs) {
    // case 16, with a block for each GiB
    Scene scene;
    const auto text_encoder = scene.loaded("text_encoder", 8, kB);
    const auto vae = scene.loaded("vae", 1, kB);
    scene.loaded("high_noise", 14, kA);
    const auto copied = scene.copied(kB);
    const auto calls = scene.machine.calls(kB);

    const auto low_noise = scene.model("low_noise", 14);
    const auto loading = scene.load(low_noise, Scene::on(kA, low_noise, blocks(4))).value();
    EXPECT_THAT(names_of(loading.evicted), ElementsAre("high_noise"));
    EXPECT_EQ(loading.plan.moved, Bytes{}) << "it is resident";
    EXPECT_EQ(scene.copied(kB), copied);
    EXPECT_EQ(scene.machine.calls(kB), calls);
    EXPECT_EQ(scene.held(kB), blocks(9));
    scene.expect_content(text_encoder);
    scene.expect_content(vae);
    scene.expect_content(loading.handle);
}

TEST(Eviction, DoesNotHappenWithoutPressure) {
    Scene scene;
    scene.loaded("one", 10);
    const auto two = scene.model("two", 14);
    EXPECT_THAT(scene.load(two, Scene::on(kA, two)).value().evicted, IsEmpty());
    EXPECT_THAT(scene.names(), ElementsAre("one", "two"));
}

TEST(Eviction, ReleasesWithoutCopying) {
    Scene scene;
    scene.loaded("one", 16);
    const auto copied = scene.copied(kA);
    const auto two = scene.model("two", 24);
    static_cast<void>(scene.load(two, Scene::on(kA, two)).value());
    EXPECT_EQ(scene.copied(kA), copied + blocks(24)) << "only the new model travels";
    EXPECT_EQ(scene.held(kCpu), Bytes{});
}

TEST(Eviction, FlaggedModelsGoBeforeOrdinaryOnesAndThoseBeforeRetained) {
    Scene scene;
    scene.loaded("retained", 8, kA, kKeep);
    scene.loaded("ordinary", 8, kA);
    scene.loaded("flagged", 8, kA, kFlagged);
    const auto small = scene.model("small", 8);
    EXPECT_THAT(names_of(scene.load(small, Scene::on(kA, small), kKeep).value().evicted),
                ElementsAre("flagged"));
    const auto next = scene.model("next", 8);
    EXPECT_THAT(names_of(scene.load(next, Scene::on(kA, next), kKeep).value().evicted),
                ElementsAre("ordinary"));
    EXPECT_FALSE(scene.says(LogLevel::warning, "was to stay loaded"));
}

TEST(Eviction, RetainedModelsGoOnlyForWhatFitsInNoOtherWayAndWithAWarning) {
    Scene scene;
    scene.loaded("retained", 16, kA, kPinned);
    const auto streamed = scene.model("streamed", 10);
    EXPECT_THAT(scene.load(streamed, Scene::on(kA, streamed)).value().evicted, IsEmpty())
        << "it can be streamed instead";
    EXPECT_FALSE(scene.says(LogLevel::warning, "retained"));

    const auto big = scene.model("big", 20);
    const auto loading = scene.load(big, Scene::whole(kA, big)).value();
    EXPECT_THAT(names_of(loading.evicted), ElementsAre("streamed", "retained"));
    EXPECT_TRUE(scene.says(LogLevel::warning, "retained.safetensors (unet) was to stay loaded"));
    EXPECT_FALSE(scene.says(LogLevel::warning, "streamed.safetensors"));
}

TEST(Eviction, StrictRetentionRefusesInsteadAndSaysHowToReleaseTheModel) {
    Scene scene({}, true);
    const auto retained = scene.loaded("retained", 16, kA, kPinned);
    scene.loaded("ordinary", 4);
    const Trace before(scene);
    const auto big = scene.model("big", 20);
    const auto refused = scene.load(big, Scene::whole(kA, big));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::does_not_fit);
    EXPECT_THAT(refused.error().hint, HasSubstr("retained.safetensors (unet)"));
    EXPECT_THAT(refused.error().hint, ::testing::Not(HasSubstr("ordinary.safetensors")));
    EXPECT_EQ(refused.error().shortfall.at(kA),
              (Shortfall{.needed = blocks(20).count(), .available = blocks(8).count()}));
    expect_unchanged(before, scene);

    static_cast<void>(scene.registry.eject("retained.safetensors (unet)").value());
    EXPECT_TRUE(scene.load(big, Scene::whole(kA, big)).has_value()) << "as it was told";
    EXPECT_FALSE(scene.registry.is_loaded(retained));
}

TEST(Eviction, TheModelThatIsWantedNextGoesLast) {
    Scene scene;
    const auto use = [](const ModelSource& source) {
        return ExpectedUse{.file = source.key.file, .options = source.key.options};
    };
    std::map<std::string, ModelSource> sources;
    for (const auto* name : {"soon", "later", "never"}) {
        const auto& source = sources[name] = scene.model(name, 8);
        scene.touch(scene.load(source, Scene::on(kA, source)).value().handle);
    }
    const auto one = scene.model("one", 8);
    const auto two = scene.model("two", 8);
    scene.registry.expect({use(one), use(two), use(sources["soon"]), use(sources["later"])});
    const auto load = [&](const ModelSource& source) {
        const auto loading = scene.load(source, Scene::on(kA, source)).value();
        const auto in_use = scene.registry.use(loading.handle).value();
        return names_of(loading.evicted);
    };
    EXPECT_THAT(load(one), ElementsAre("never")) << "though it was used last";
    // now nobody is known to want `one` again
    EXPECT_THAT(load(two), ElementsAre("one"));
    const auto three = scene.model("three", 16);
    EXPECT_THAT(load(three), ElementsAre("two", "later"));
}

TEST(Eviction, WithoutPlansForItTheModelOfTheEarliestPromptGoes) {
    Scene scene;
    const auto old = scene.loaded("old", 8);
    scene.loaded("middle", 8);
    scene.registry.begin_prompt();
    scene.loaded("new", 8);
    scene.touch(old);
    const auto next = scene.model("next", 8);
    EXPECT_THAT(names_of(scene.load(next, Scene::on(kA, next)).value().evicted),
                ElementsAre("middle"));
}

TEST(Eviction, WhatIsInUseIsNeverEvicted) {
    Scene scene;
    const auto busy = scene.loaded("busy", 16, kA, kFlagged);
    const auto use = scene.registry.use(busy).value();
    const Trace before(scene);
    const auto big = scene.model("big", 20);
    const auto refused = scene.load(big, Scene::whole(kA, big));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::does_not_fit);
    EXPECT_EQ(refused.error().shortfall.at(kA).missing(), blocks(12).count());
    expect_unchanged(before, scene);
    scene.expect_content(busy);
}

TEST(Eviction, PartsOfOthersBlocksGoOnlyOnTheDeviceThatIsShort) {
    Scene scene;
    const auto spread = scene.model("spread", 16);
    const auto handle =
        scene.load(spread, scene.as("cuda:0,8mb;cuda:1,6mb;cpu,*#cuda:0", spread)).value().handle;
    const auto next = scene.model("next", 10);
    const auto loading = scene.load(next, Scene::on(kB, next)).value();
    ASSERT_THAT(loading.evicted, SizeIs(1));
    EXPECT_EQ(loading.evicted[0].released, (std::map<DeviceId, Bytes>{{kB, blocks(4)}}));
    EXPECT_EQ(scene.status(handle).held,
              (std::map<DeviceId, Bytes>{{kCpu, blocks(2)}, {kA, blocks(10)}, {kB, blocks(2)}}));
}

TEST(EjectsOthers, OnlyThoseGoThatNobodyPinnedOrUses) {
    Scene scene;
    scene.loaded("ordinary", 2);
    scene.loaded("kept_by_default", 2, kB, kKeep);
    scene.loaded("pinned", 2, kA, kPinned);
    const auto busy = scene.loaded("busy", 2);
    const auto use = scene.registry.use(busy).value();
    const auto unet = scene.model("unet", 4);
    const auto loading = scene.load(unet, Scene::on(kA, unet), {}, true).value();
    EXPECT_THAT(names_of(loading.evicted), UnorderedElementsAre("ordinary", "kept_by_default"));
    EXPECT_THAT(scene.names(), ElementsAre("pinned", "busy", "unet"));
    EXPECT_EQ(scene.held(kB), Bytes{});
    scene.expect_content(busy);
}

TEST(EjectsOthers, NobodyGoesForAModelThatIsLoadedAlready) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    static_cast<void>(scene.load(unet, Scene::on(kA, unet), {}, true).value());
    scene.loaded("other", 2);
    const Trace before(scene);
    const auto again = scene.load(unet, Scene::on(kA, unet), {}, true).value();
    EXPECT_THAT(again.evicted, IsEmpty());
    expect_unchanged(before, scene);
}

TEST(EjectsOthers, NobodyGoesWhereTheFlagIsNotSet) {
    Scene scene;
    scene.loaded("other", 2);
    const auto unet = scene.model("unet", 4);
    static_cast<void>(scene.load(unet, Scene::on(kA, unet)).value());
    EXPECT_THAT(scene.names(), ElementsAre("other", "unet"));
}

TEST(EjectsOthers, NobodyGoesForAModelThatIsRefused) {
    Scene scene;
    scene.loaded("other", 2);
    const auto big = scene.model("big", 30);
    const Trace before(scene);
    EXPECT_FALSE(scene.load(big, Scene::whole(kA, big), {}, true).has_value());
    expect_unchanged(before, scene);
}

TEST(Eviction, IsToldInTheLinesThatUsersOfTheMultiGpuNodesKnow) {
    Scene scene;
    scene.loaded("one", 24);
    const auto two = scene.model("two", 24);
    static_cast<void>(scene.load(two, Scene::on(kA, two)).value());
    EXPECT_TRUE(scene.says(LogLevel::focus, "[EVICTION] Device cuda:0: unloaded 1 models"));
    EXPECT_TRUE(scene.says(LogLevel::focus, "will_evict=True"));
    EXPECT_TRUE(scene.says(LogLevel::focus, "free_memory/minimum_memory_required_post"));
}

TEST(Ejecting, SparesThePartsOfTheSameFile) {
    Scene scene;
    scene.write("all.safetensors", 8);
    const auto text = scene.part("all.safetensors", "text", 0, 4);
    const auto unet = scene.part("all.safetensors", "unet", 4, 4);
    ASSERT_TRUE(scene.load(text, Scene::on(kA, text), {}, true).has_value());
    scene.loaded("other", 2);
    ASSERT_TRUE(scene.load(unet, Scene::on(kA, unet), {}, true).has_value());
    EXPECT_EQ(scene.registry.models().size(), 2U) << "only the other file went";
    EXPECT_FALSE(scene.registry.require_loaded("other.safetensors").has_value());
}

TEST(ExpectedUses, AUseThatIsTriedAgainIsOneUse) {
    Scene scene;
    const auto once = scene.loaded("once", 8);
    const auto later = scene.loaded("later", 8);
    const auto use_of = [&](ModelHandle handle) {
        return ExpectedUse{.file = scene.status(handle).file, .options = "unet"};
    };
    // once, later, once again: the first is wanted again after the second
    scene.registry.expect({use_of(once), use_of(later), use_of(once), use_of(later)});
    scene.touch(once);
    scene.touch(once);  // tried again with less
    const auto source = scene.model("new", 12);
    const auto loading = scene.load(source, Scene::whole(kA, source)).value();
    ASSERT_EQ(loading.evicted.size(), 1U);
    EXPECT_EQ(loading.evicted[0].name, "once.safetensors (unet)")
        << "of the two, it is wanted later";
}

TEST(Flags, SaidByNameStandWhenTheModelIsAskedForAgain) {
    Scene scene;
    const auto source = scene.model("m", 4);
    const auto handle = scene.load(source, Scene::on(kA, source)).value().handle;
    ASSERT_TRUE(scene.registry.set_retention("m.safetensors", Retention::keep).has_value());
    ASSERT_TRUE(scene.registry.load({.source = &source, .plans = {Scene::on(kA, source)}}));
    EXPECT_EQ(scene.status(handle).retention, kPinned);
}

}  // namespace
}  // namespace ballast::residency::testing
