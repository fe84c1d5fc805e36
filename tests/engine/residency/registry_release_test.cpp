// Letting models go: by flag, by name, all of them.

#include <gmock/gmock.h>

#include "tests/engine/residency/residency_scene.hpp"
#include "tests/support/allocation_watch.hpp"

namespace ballast::residency::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A checkpoint of two parts, and another model.
struct ThreeModels {
    ThreeModels() {
        scene.write("sd.safetensors", 5);
        for (const auto& source :
             {scene.part("sd.safetensors", "unet", 0, 3), scene.part("sd.safetensors", "vae", 3, 2),
              scene.model("flux", 4)})
            handles.push_back(scene.load(source, Scene::on(kA, source)).value().handle);
    }

    Scene scene;
    std::vector<ModelHandle> handles;  ///< unet, vae, flux
};

TEST(Release, NeverAllocates) {
    // case 20: a card larger than the host's memory, a block for each GiB
    Scene scene({.cpu = blocks(14), .a = blocks(48)});
    scene.loaded("m", 24);
    scene.ledger.reset_peaks();
    const auto host_before = scene.ledger.snapshot()[kCpu].now;

    const ballast::testing::AllocationWatch watch;
    const auto report = scene.registry.release_flagged();
    EXPECT_LE(watch.peak(), Bytes{64_KiB}.count()) << "64 MiB of the host, in this scale";
    EXPECT_EQ(scene.ledger.snapshot()[kCpu].peak, host_before);
    EXPECT_EQ(report.released(), (std::map<DeviceId, Bytes>{{kA, blocks(24)}}));
    scene.expect_nothing_held();

    const Trace before(scene);
    EXPECT_THAT(scene.registry.release_flagged().freed, IsEmpty());
    expect_unchanged(before, scene);
}

TEST(Release, TellsWhatCameBackByDeviceAndTier) {
    Scene scene;
    const auto unet = scene.model("unet", 7);
    const auto text = "cuda:0,2mb;cuda:1,1mb;cpu,3mb;disk,*#cuda:0";
    static_cast<void>(scene.load(unet, scene.as(text, unet)).value());
    const auto report = scene.registry.release_all();
    EXPECT_EQ(report.released(),
              (std::map<DeviceId, Bytes>{{kCpu, blocks(3)}, {kA, blocks(4)}, {kB, blocks(1)}}))
        << "two blocks and the ring; what lies on disk was nobody's memory";
    EXPECT_EQ(report.released_by_tier(),
              (std::map<DeviceId, std::map<Tier, Bytes>>{{kCpu, {{Tier::host, blocks(3)}}},
                                                         {kA, {{Tier::resident, blocks(4)}}},
                                                         {kB, {{Tier::peer, blocks(1)}}}}));
    scene.expect_nothing_held();
}

TEST(Release, FlaggedOnesGoAndTheOthersStayInTheirOrder) {
    Scene scene;
    scene.loaded("one", 1, kA, kKeep);
    scene.loaded("two", 2);
    scene.loaded("three", 1, kB, kPinned);
    scene.loaded("four", 1, kB, kFlagged);
    const auto report = scene.registry.release_flagged();
    EXPECT_THAT(scene.names(), ElementsAre("one", "three"));
    EXPECT_THAT(report.freed, SizeIs(2));
    ASSERT_THAT(report.kept, SizeIs(2));
    EXPECT_EQ(report.kept[0].why, KeptBecause::retained);
    EXPECT_EQ(report.held(), (std::map<DeviceId, Bytes>{{kA, blocks(1)}, {kB, blocks(1)}}));
}

TEST(Release, AllOfThemGoByForceWhateverTheirFlags) {
    Scene scene;
    scene.loaded("kept", 1, kA, kKeep);
    scene.loaded("pinned", 1, kB, kPinned);
    scene.loaded("ordinary", 1);
    EXPECT_THAT(scene.registry.release_all().freed, SizeIs(3));
    EXPECT_THAT(scene.registry.models(), IsEmpty());
    scene.expect_nothing_held();
}

TEST(Release, WhatIsInUseGoesWhenItIsSettled) {
    Scene scene;
    const auto busy = scene.loaded("busy", 2);
    scene.loaded("kept", 1, kA, kKeep);
    {
        const auto use = scene.registry.use(busy).value();
        const auto report = scene.registry.release_flagged();
        EXPECT_THAT(report.freed, IsEmpty());
        ASSERT_THAT(report.kept, SizeIs(2));
        EXPECT_EQ(report.kept[0].why, KeptBecause::in_use);
        EXPECT_EQ(scene.registry.settle().kept[0].why, KeptBecause::in_use) << "still";
        scene.expect_content(busy);
    }
    const auto report = scene.registry.settle();
    ASSERT_THAT(report.freed, SizeIs(1));
    EXPECT_EQ(report.freed[0].handle, busy);
    EXPECT_THAT(scene.names(), ElementsAre("kept"));
    EXPECT_THAT(scene.registry.settle().freed, IsEmpty());
}

TEST(Release, AnErrorInOneDoesNotStopTheOthers) {
    Scene scene;
    const auto held = scene.loaded("held", 1);
    scene.loaded("other", 2);
    {
        // a pin without a use is against the rules
        const auto pin = scene.registry.weights(held)->pin({0});
        const auto report = scene.registry.release_all();
        ASSERT_THAT(report.freed, SizeIs(1));
        EXPECT_EQ(report.freed[0].name, "other.safetensors (unet)");
        ASSERT_THAT(report.kept, SizeIs(1));
        EXPECT_EQ(report.kept[0].why, KeptBecause::failed);
        EXPECT_EQ(report.kept[0].error->code, Code::internal);
        EXPECT_EQ(report.held().at(kA), blocks(1));
    }
    scene.expect_content(held);
    EXPECT_THAT(scene.registry.release_all().freed, SizeIs(1));
}

TEST(SetRetention, ChangesTheModelOfThatNameAlone) {
    ThreeModels three;
    ASSERT_TRUE(three.scene.registry.set_retention("sd.safetensors (vae)", Retention::keep));
    EXPECT_EQ(three.scene.status(three.handles[0]).retention, RetentionFlag{});
    EXPECT_EQ(three.scene.status(three.handles[1]).retention, kPinned);
    three.scene.registry.release_flagged();
    EXPECT_THAT(three.scene.registry.models(), SizeIs(1));
}

TEST(SetRetention, ChangesAllPartsOfAFileOfThatNameOrPath) {
    for (const bool by_path : {false, true}) {
        ThreeModels three;
        auto& registry = three.scene.registry;
        const auto path = (three.scene.folder / "sd.safetensors").string();
        ASSERT_TRUE(registry.set_retention(by_path ? path : "sd.safetensors", Retention::keep));
        for (const auto part : {0U, 1U})
            EXPECT_EQ(three.scene.status(three.handles[part]).retention, kPinned);
        EXPECT_EQ(three.scene.status(three.handles[2]).retention, RetentionFlag{});
        ASSERT_TRUE(registry.set_retention("sd.safetensors", Retention::release));
        EXPECT_EQ(three.scene.status(three.handles[0]).retention, kFlagged);
    }
}

TEST(SetRetention, OfAnUnknownNameNamesWhatIsLoaded) {
    Scene empty;
    const auto nothing = empty.registry.set_retention("x", Retention::keep);
    EXPECT_EQ(nothing.error().code, Code::not_found);
    EXPECT_EQ(nothing.error().hint, "nothing is loaded");

    ThreeModels three;
    const auto refused = three.scene.registry.set_retention("sdxl.safetensors", Retention::keep);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::not_found);
    EXPECT_THAT(refused.error().why, HasSubstr("'sdxl.safetensors'"));
    EXPECT_EQ(refused.error().hint,
              "loaded are: sd.safetensors (unet), sd.safetensors (vae), flux.safetensors (unet)");
    EXPECT_FALSE(three.scene.registry.require_loaded("sdxl.safetensors").has_value());
    EXPECT_TRUE(three.scene.registry.require_loaded("flux.safetensors").has_value());
}

TEST(Eject, LetsAPartGoByItsNameAndKeepsTheFilesOtherPart) {
    ThreeModels three;
    const auto report = three.scene.registry.eject("sd.safetensors (unet)").value();
    EXPECT_EQ(report.released(), (std::map<DeviceId, Bytes>{{kA, blocks(3)}}));
    ASSERT_THAT(report.kept, SizeIs(2));
    EXPECT_EQ(report.kept[0].why, KeptBecause::not_asked);
    EXPECT_FALSE(three.scene.registry.is_loaded(three.handles[0]));
    three.scene.expect_content(three.handles[1]);
    three.scene.expect_content(three.handles[2]);
}

TEST(Eject, LetsAllPartsOfAFileGoByItsNameOrPath) {
    for (const bool by_path : {false, true}) {
        ThreeModels three;
        const auto path = (three.scene.folder / "sd.safetensors").string();
        EXPECT_THAT(three.scene.registry.eject(by_path ? path : "sd.safetensors").value().freed,
                    SizeIs(2));
        EXPECT_THAT(three.scene.names(), ElementsAre("flux"));
    }
}

TEST(Eject, LetsAKeptModelGo) {
    Scene scene;
    scene.loaded("pinned", 1, kA, kPinned);
    EXPECT_THAT(scene.registry.eject("pinned.safetensors").value().freed, SizeIs(1));
    scene.expect_nothing_held();
}

TEST(Eject, AskedTwiceFindsNothingAndTouchesNothing) {
    ThreeModels three;
    static_cast<void>(three.scene.registry.eject("flux.safetensors").value());
    const Trace before(three.scene);
    const auto again = three.scene.registry.eject("flux.safetensors");
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error().code, Code::not_found);
    EXPECT_THAT(again.error().hint, HasSubstr("sd.safetensors (vae)"));
    expect_unchanged(before, three.scene);
}

TEST(Eject, PartsOfNamesNameNothing) {
    ThreeModels three;
    for (const auto* name : {"", "sd", "safetensors", "flux.safetensors (vae)", "FLUX.safetensors"})
        EXPECT_FALSE(three.scene.registry.eject(name).has_value()) << name;
    EXPECT_THAT(three.scene.registry.models(), SizeIs(3));
}

TEST(Eject, InUseIsReportedAndGoesWhenItIsSettled) {
    ThreeModels three;
    auto& registry = three.scene.registry;
    {
        const auto use = registry.use(three.handles[2]).value();
        const auto report = registry.eject("flux.safetensors").value();
        EXPECT_THAT(report.freed, IsEmpty());
        ASSERT_THAT(report.kept, SizeIs(3));
        EXPECT_EQ(report.kept[2].why, KeptBecause::in_use);
        EXPECT_EQ(report.kept[2].held, (std::map<DeviceId, Bytes>{{kA, blocks(4)}}));
    }
    EXPECT_THAT(registry.settle().freed, SizeIs(1));
    EXPECT_FALSE(registry.is_loaded(three.handles[2]));
}

TEST(Words, AreThoseOfReports) {
    EXPECT_EQ(to_string(Tier::resident), "resident");
    EXPECT_EQ(to_string(Tier::peer), "peer");
    EXPECT_EQ(to_string(Tier::host), "host");
    EXPECT_EQ(to_string(Tier::disk), "disk");
    EXPECT_EQ(tier_of(kDisk, kA), Tier::disk);
    EXPECT_EQ(tier_of(kCpu, kCpu), Tier::resident) << "the processor computes";
    EXPECT_EQ(to_string(KeptBecause::retained), "retained");
    EXPECT_EQ(to_string(KeptBecause::in_use), "in use");
    EXPECT_EQ(to_string(KeptBecause::not_asked), "not asked for");
    EXPECT_EQ(to_string(KeptBecause::failed), "failed");
}

}  // namespace
}  // namespace ballast::residency::testing
