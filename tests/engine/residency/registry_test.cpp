// Sharing, handles and uses.

#include "ballast/engine/residency/registry.hpp"

#include <gmock/gmock.h>

#include "tests/engine/residency/residency_scene.hpp"

namespace ballast::residency::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Registry, HoldsWhatTheFileHoldsWhereThePlanWantsIt) {
    Scene scene;
    const auto unet = scene.model("unet", 6);
    const auto text = "cuda:0,2mb;cuda:1,1mb;cpu,*#cuda:0";
    const auto loading = scene.load(unet, scene.as(text, unet)).value();
    EXPECT_TRUE(loading.is_read);
    const auto status = scene.status(loading.handle);
    EXPECT_EQ(status.bytes, blocks(6));
    EXPECT_EQ(status.homes,
              (std::map<DeviceId, Bytes>{{kCpu, blocks(3)}, {kA, blocks(2)}, {kB, blocks(1)}}));
    EXPECT_EQ(status.held,
              (std::map<DeviceId, Bytes>{{kCpu, blocks(3)}, {kA, blocks(4)}, {kB, blocks(1)}}))
        << "with a ring of two blocks where it computes";
    EXPECT_EQ(scene.registry.held(), status.held);
    scene.expect_content(loading.handle);
}

TEST(Registry, OneModelIsReadOnceForAllWhoAskForIt) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    const auto first = scene.load(unet, Scene::on(kA, unet)).value();
    const auto again = scene.part("unet.safetensors", "unet", 0, 4);
    const auto second = scene.load(again, Scene::on(kA, again)).value();
    EXPECT_EQ(second.handle, first.handle);
    EXPECT_FALSE(second.is_read);
    EXPECT_EQ(scene.bytes_read, blocks(4).count());
    EXPECT_EQ(scene.opened, 1);
    EXPECT_EQ(scene.held(kA), blocks(4));
    EXPECT_THAT(scene.registry.models(), SizeIs(1));
}

TEST(Registry, OtherOptionsAreAnotherModelOfTheSameFile) {
    Scene scene;
    scene.write("sd.safetensors", 5);
    const auto unet = scene.part("sd.safetensors", "unet", 0, 3);
    const auto vae = scene.part("sd.safetensors", "vae", 3, 2);
    const auto first = scene.load(unet, Scene::on(kA, unet)).value().handle;
    const auto second = scene.load(vae, Scene::on(kA, vae)).value().handle;
    EXPECT_NE(first, second);
    EXPECT_EQ(scene.held(kA), blocks(5));
    scene.expect_content(first);
    scene.expect_content(second);
}

TEST(Registry, AHandleIsStaleAfterItsModelWentAndSaysWhatToDo) {
    Scene scene;
    const auto unet = scene.model("unet", 2);
    const auto old = scene.load(unet, Scene::on(kA, unet)).value().handle;
    scene.registry.release_all();
    EXPECT_FALSE(scene.registry.is_loaded(old));
    EXPECT_EQ(scene.registry.weights(old), nullptr);
    const auto use = scene.registry.use(old);
    ASSERT_FALSE(use.has_value());
    EXPECT_EQ(use.error().code, Code::not_found);
    EXPECT_THAT(use.error().hint, HasSubstr("load it again"));

    const auto anew = scene.load(unet, Scene::on(kA, unet)).value().handle;
    EXPECT_NE(anew, old) << "no number is given out twice";
    EXPECT_FALSE(scene.registry.use(old).has_value());
    scene.expect_content(anew);
}

TEST(Registry, AHandleThatWasNeverGivenOutNamesNothing) {
    Scene scene;
    scene.loaded("unet", 1);
    EXPECT_FALSE(scene.registry.is_loaded(ModelHandle{}));
    EXPECT_EQ(scene.registry.use(ModelHandle{}).error().code, Code::not_found);
}

TEST(Registry, CountsUsesAndKnowsTheirOrder) {
    Scene scene;
    const auto one = scene.model("one", 1);
    const auto two = scene.model("two", 1);
    const auto first = scene.load(one, Scene::on(kA, one)).value().handle;
    const auto second = scene.load(two, Scene::on(kA, two)).value().handle;
    EXPECT_EQ(scene.status(first).uses, 0U);
    scene.touch(second);
    scene.touch(first);
    scene.touch(first);
    EXPECT_EQ(scene.status(first).uses, 2U);
    EXPECT_EQ(scene.status(second).uses, 1U);
    EXPECT_GT(scene.status(first).last_use, scene.status(second).last_use);
    EXPECT_THAT(scene.names(), ElementsAre("one", "two")) << "listed as they were loaded";
}

TEST(Registry, AModelIsInUseForAsLongAsSomebodyHoldsAUse) {
    Scene scene;
    const auto unet = scene.loaded("unet", 1);
    {
        auto use = scene.registry.use(unet).value();
        const auto moved = std::move(use);
        const auto second = scene.registry.use(unet).value();
        EXPECT_TRUE(scene.status(unet).is_in_use);
    }
    EXPECT_FALSE(scene.status(unet).is_in_use);
}

TEST(Registry, APartThatMadeRoomIsAllThatIsReadAgain) {
    Scene scene;
    const auto unet = scene.model("unet", 16);
    const auto handle = scene.touch(scene.load(unet, Scene::on(kA, unet)).value().handle);
    const auto other = scene.model("other", 12);
    const auto loading = scene.load(other, Scene::on(kA, other)).value();
    ASSERT_THAT(loading.evicted, SizeIs(1));
    EXPECT_EQ(loading.evicted[0].handle, handle);
    EXPECT_EQ(loading.evicted[0].released, (std::map<DeviceId, Bytes>{{kA, blocks(4)}}))
        << "no more of its end than is needed";
    EXPECT_FALSE(scene.status(handle).is_complete);
    EXPECT_FALSE(scene.registry.is_loaded(handle));

    static_cast<void>(scene.registry.eject("other.safetensors").value());
    const auto before = scene.bytes_read.load();
    const auto again = scene.load(unet, Scene::on(kA, unet)).value();
    EXPECT_EQ(again.handle, handle) << "it never went as a whole";
    EXPECT_TRUE(again.is_read);
    EXPECT_EQ(scene.bytes_read - before, blocks(4).count());
    scene.expect_content(handle);
}

TEST(Registry, AnIncompleteModelIsNotUsed) {
    Scene scene;
    const auto handle = scene.loaded("unet", 16);
    scene.loaded("other", 12);
    ASSERT_FALSE(scene.registry.is_loaded(handle));
    const auto use = scene.registry.use(handle);
    ASSERT_FALSE(use.has_value());
    EXPECT_EQ(use.error().code, Code::not_found);
    EXPECT_EQ(use.error().hint, "load it again");
    EXPECT_EQ(scene.registry.weights(handle)->pin({0}).error().code, Code::internal);
}

TEST(Registry, AModelStaysWhereItDoesAsWell) {
    Scene scene;
    const auto unet = scene.model("unet", 8);
    const auto handle = scene.load(unet, Scene::on(kA, unet)).value().handle;
    const Trace before(scene);
    // a plan for much larger activations would stream, but there is room for both
    const auto spread = scene.as("cuda:0,4mb;cpu,*#cuda:0", unet, blocks(10));
    const auto loading = scene.load(unet, spread).value();
    EXPECT_TRUE(loading.is_as_good);
    EXPECT_FALSE(loading.is_read);
    EXPECT_EQ(loading.handle, handle);
    expect_unchanged(before, scene);
}

TEST(Registry, AModelMovesWhereItWouldLeaveNoRoomForActivations) {
    Scene scene;
    const auto unet = scene.model("unet", 16);
    const auto handle = scene.load(unet, Scene::on(kA, unet)).value().handle;
    EXPECT_TRUE(scene.registry.has_room_for(handle, blocks(8)));
    EXPECT_FALSE(scene.registry.has_room_for(handle, blocks(8) + 1_B));
    const auto loading = scene.load(unet, Scene::on(kA, unet, blocks(12))).value();
    EXPECT_FALSE(loading.is_as_good);
    EXPECT_TRUE(loading.is_read);
    EXPECT_EQ(loading.handle, handle);
    EXPECT_TRUE(scene.registry.has_room_for(handle, blocks(12)));
    EXPECT_LT(scene.bytes_read, blocks(32).count()) << "what stays where it was is not read again";
    scene.expect_content(handle);
}

TEST(Registry, AModelOnAnotherDeviceMovesThere) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    const auto handle = scene.load(unet, Scene::on(kA, unet)).value().handle;
    const auto moved = scene.load(unet, Scene::on(kB, unet)).value();
    EXPECT_EQ(moved.handle, handle);
    EXPECT_EQ(scene.held(kA), Bytes{});
    EXPECT_EQ(scene.held(kB), blocks(4));
    scene.expect_content(handle);
}

TEST(Registry, AModelThatSomebodyComputesWithIsNotMoved) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    const auto handle = scene.load(unet, Scene::on(kA, unet)).value().handle;
    const auto use = scene.registry.use(handle).value();
    const Trace before(scene);
    const auto moved = scene.load(unet, Scene::on(kB, unet));
    ASSERT_FALSE(moved.has_value());
    EXPECT_EQ(moved.error().code, Code::internal);
    expect_unchanged(before, scene);
}

TEST(Registry, TheFirstPlanThatFitsCounts) {
    Scene scene;
    const auto unet = scene.model("unet", 16);
    const auto request = [&](std::vector<PlanMaker> plans) {
        return scene.registry.load({.source = &unet, .plans = std::move(plans)}).value();
    };
    EXPECT_EQ(request({Scene::whole(kB, unet), Scene::whole(kA, unet)}).plan.compute, kA);
    scene.registry.release_all();
    EXPECT_EQ(request({Scene::on(kB, unet), Scene::whole(kA, unet)}).plan.compute, kB);
}

TEST(Registry, BuffersInTheWayGoBeforeAModelIsReadAndOnlyThen) {
    Scene scene;
    const auto unet = scene.model("unet", 2);
    static_cast<void>(scene.load(unet, Scene::on(kA, unet)).value());
    EXPECT_EQ(scene.room.ways_made, 1);
    static_cast<void>(scene.load(unet, Scene::on(kA, unet)).value());
    EXPECT_EQ(scene.room.ways_made, 1);
    EXPECT_EQ(scene.room.releases, 0) << "nothing was short";
}

TEST(Registry, ALoaderSaysAnewWhetherItsModelIsKept) {
    Scene scene;
    const auto unet = scene.model("unet", 1);
    const auto handle = scene.load(unet, Scene::on(kA, unet), kPinned).value().handle;
    EXPECT_EQ(scene.status(handle).retention, kPinned);
    static_cast<void>(scene.load(unet, Scene::on(kA, unet), kFlagged).value());
    EXPECT_EQ(scene.status(handle).retention, kFlagged);
    scene.registry.set_retention(unet.key, kKeep);
    EXPECT_EQ(scene.status(handle).retention, kKeep);
}

TEST(Registry, NothingIsLoadedAtFirst) {
    Scene scene;
    EXPECT_THAT(scene.registry.models(), IsEmpty());
    EXPECT_THAT(scene.registry.held(), IsEmpty());
    EXPECT_THAT(scene.registry.release_all().freed, IsEmpty());
}

}  // namespace
}  // namespace ballast::residency::testing
