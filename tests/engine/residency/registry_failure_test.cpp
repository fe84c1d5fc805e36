// Files that go or change, requests that are refused, and devices that refuse.

#include <gmock/gmock.h>

#include <chrono>

#include "tests/engine/residency/residency_scene.hpp"

namespace ballast::residency::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// As if it had been written again, as large as before.
void rewrite(const std::filesystem::path& file) {
    std::filesystem::last_write_time(
        file, std::filesystem::last_write_time(file) + std::chrono::seconds(2));
}

TEST(DeletedFile, ItsModelStaysUsableWhileItIsLoaded) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    const auto handle = scene.load(unet, Scene::on(kA, unet)).value().handle;
    std::filesystem::remove(unet.key.file);
    scene.expect_content(handle);
    const auto again = scene.load(unet, Scene::on(kA, unet));
    ASSERT_TRUE(again.has_value()) << to_string(again.error());
    EXPECT_EQ(again->handle, handle);
}

TEST(DeletedFile, BlocksOnDiskCanStillBeReadSinceItIsOpen) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    const auto text = scene.as("cuda:0,2mb;disk,*#cuda:0", unet);
    const auto handle = scene.load(unet, text).value().handle;
    std::filesystem::remove(unet.key.file);
    scene.expect_content(handle);
}

TEST(DeletedFile, AfterItsModelWentLoadingFailsAndNothingElseGoes) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    static_cast<void>(scene.load(unet, Scene::on(kA, unet)).value());
    static_cast<void>(scene.registry.eject("unet.safetensors").value());
    scene.loaded("other", 22);
    std::filesystem::remove(unet.key.file);
    const Trace before(scene);
    const auto failed = scene.load(unet, Scene::on(kA, unet), {}, true);
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code, Code::not_found);
    EXPECT_EQ(failed.error().place.file, unet.key.file.string());
    expect_unchanged(before, scene);
}

TEST(DeletedFile, AModelWhoseEndMadeRoomCannotComeBackAndStaysAsItIs) {
    Scene scene;
    const auto unet = scene.model("unet", 16);
    static_cast<void>(scene.load(unet, Scene::on(kA, unet)).value());
    scene.loaded("other", 12);
    std::filesystem::remove(unet.key.file);
    const Trace before(scene);
    EXPECT_EQ(scene.load(unet, Scene::on(kA, unet)).error().code, Code::not_found);
    expect_unchanged(before, scene);
}

TEST(ReplacedFile, AResidentModelOfTheOldOneStaysUsableByItsHandle) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    const auto handle = scene.load(unet, Scene::on(kA, unet)).value().handle;
    rewrite(unet.key.file);
    scene.expect_content(handle);
}

TEST(ReplacedFile, BlocksThatAreReadAtEachUseAreRefused) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    const auto text = scene.as("cuda:0,2mb;disk,*#cuda:0", unet);
    const auto handle = scene.load(unet, text).value().handle;
    rewrite(unet.key.file);
    const auto use = scene.registry.use(handle);
    ASSERT_FALSE(use.has_value());
    EXPECT_EQ(use.error().code, Code::corrupt_file);
    EXPECT_FALSE(scene.status(handle).is_in_use);
}

TEST(ReplacedFile, TheOldKeyLoadsNothingMoreWhenSomethingMustBeRead) {
    Scene scene;
    const auto unet = scene.model("unet", 16);
    const auto handle = scene.load(unet, Scene::on(kA, unet)).value().handle;
    scene.loaded("other", 12);
    ASSERT_FALSE(scene.registry.is_loaded(handle));
    rewrite(unet.key.file);
    const Trace before(scene);
    EXPECT_EQ(scene.load(unet, Scene::on(kA, unet)).error().code, Code::corrupt_file);
    expect_unchanged(before, scene);
}

TEST(ReplacedFile, TheNewVersionLoadsAndTheOldOneGoes) {
    Scene scene;
    const auto unet = scene.model("unet", 14);
    const auto old = scene.load(unet, Scene::on(kA, unet), kPinned).value().handle;
    rewrite(unet.key.file);
    const auto anew = scene.part("unet.safetensors", "unet", 0, 14);
    const auto loading = scene.load(anew, Scene::whole(kA, anew));
    ASSERT_TRUE(loading.has_value()) << "the room of the old version counts";
    EXPECT_NE(loading->handle, old);
    EXPECT_FALSE(scene.registry.use(old).has_value());
    EXPECT_EQ(scene.held(kA), blocks(14));
    EXPECT_EQ(scene.bytes_read, blocks(28).count());
    EXPECT_TRUE(scene.says(LogLevel::info, "its file was replaced"));
    scene.expect_content(loading->handle);
}

TEST(ReplacedFile, TheOldVersionGoesOnceAlsoWhereOthersAreEjected) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    static_cast<void>(scene.load(unet, Scene::on(kA, unet)).value());
    scene.loaded("other", 2);
    rewrite(unet.key.file);
    const auto anew = scene.part("unet.safetensors", "unet", 0, 4);
    const auto loading = scene.load(anew, Scene::on(kA, anew), {}, true).value();
    ASSERT_THAT(loading.evicted, SizeIs(2));
    EXPECT_EQ(loading.evicted[0].name, "unet.safetensors (unet)") << "the old version";
    EXPECT_EQ(loading.evicted[1].name, "other.safetensors (unet)");
    EXPECT_THAT(scene.registry.models(), SizeIs(1));
}

TEST(ReplacedFile, TheOldVersionStaysWhileSomebodyComputesWithIt) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    const auto old = scene.load(unet, Scene::on(kA, unet)).value().handle;
    const auto use = scene.registry.use(old).value();
    rewrite(unet.key.file);
    const auto anew = scene.part("unet.safetensors", "unet", 0, 4);
    static_cast<void>(scene.load(anew, Scene::on(kA, anew)).value());
    EXPECT_EQ(scene.held(kA), blocks(8));
    scene.expect_content(old);
}

TEST(ReplacedFile, AnEqualPartOfAnotherFileIsNoOlderVersion) {
    Scene scene;
    const auto handle = scene.loaded("one", 4);
    scene.loaded("two", 5);
    EXPECT_TRUE(scene.registry.is_loaded(handle));
}

TEST(ReplacedFile, NothingGoesForANewVersionThatDoesNotFit) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    static_cast<void>(scene.load(unet, Scene::on(kA, unet)).value());
    scene.write("unet.safetensors", 30);
    const auto anew = scene.part("unet.safetensors", "unet", 0, 30);
    const Trace before(scene);
    EXPECT_EQ(scene.load(anew, Scene::whole(kA, anew)).error().code, Code::does_not_fit);
    expect_unchanged(before, scene);
}

TEST(RefusedLoad, LeavesEverythingAsItWasAndSaysWhatIsMissing) {
    Scene scene;
    scene.loaded("ordinary", 8);
    scene.loaded("flagged", 8, kB, kFlagged);
    const auto big = scene.model("big", 30);
    const Trace before(scene);
    const auto refused = scene.load(big, Scene::whole(kA, big));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::does_not_fit);
    EXPECT_EQ(refused.error().shortfall.at(kA),
              (Shortfall{.needed = blocks(30).count(), .available = blocks(24).count()}));
    EXPECT_THAT(refused.error().hint, HasSubstr("choose a smaller model"));
    EXPECT_EQ(scene.room.ways_made, 2) << "for those that were loaded";
    expect_unchanged(before, scene);
}

TEST(RefusedLoad, SaysWhichLimitToRaise) {
    Scene scene;
    scene.ledger.set_limit(kA, blocks(24));
    const auto big = scene.model("big", 30);
    EXPECT_THAT(scene.load(big, Scene::whole(kA, big)).error().hint,
                HasSubstr("--memory-limit cuda:0=" + std::to_string(blocks(30).count())));
}

TEST(FailedLoad, AFileThatCannotBeReadLeavesNothingOfTheModel) {
    Scene scene;
    const auto other = scene.loaded("other", 2);
    auto unet = scene.model("unet", 4);
    unet.open = []() -> Result<std::shared_ptr<const formats::Reader>> {
        return std::make_shared<weights::PatternReader>(1'500'000);
    };
    const auto failed = scene.load(unet, Scene::on(kA, unet));
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code, Code::io);
    EXPECT_EQ(failed.error().place.file, unet.key.file.string());
    EXPECT_THAT(scene.names(), ElementsAre("other"));
    EXPECT_EQ(scene.held(kA), blocks(2));
    scene.expect_content(other);
}

TEST(FailedLoad, AFileThatCannotBeOpenedAgainLeavesNothingOfTheModel) {
    Scene scene;
    auto unet = scene.model("unet", 4);
    const auto handle = scene.load(unet, Scene::on(kA, unet)).value().handle;
    unet.open = []() -> Result<std::shared_ptr<const formats::Reader>> {
        return fail(Error{.code = Code::io, .what = "cannot open", .why = "too many open files"});
    };
    EXPECT_EQ(scene.load(unet, Scene::on(kB, unet)).error().code, Code::io);
    EXPECT_THAT(scene.registry.models(), IsEmpty());
    EXPECT_EQ(scene.registry.weights(handle), nullptr);
    scene.expect_nothing_held();
}

TEST(RefusingDevice, OneRefusalIsHealedWithinTheRequest) {
    Scene scene({.a = blocks(8)});
    const auto stub = scene.model("stub", 2);
    scene.machine.inject(kA, {.allocation = 1});
    const auto loading = scene.load(stub, Scene::on(kA, stub));
    ASSERT_TRUE(loading.has_value()) << to_string(loading.error());
    EXPECT_EQ(scene.room.releases, 1) << "kept memory goes before the second try";
    EXPECT_TRUE(scene.says(LogLevel::warning, "trying once more"));
    EXPECT_EQ(scene.held(kA), blocks(2));
    scene.expect_content(loading->handle);
}

TEST(RefusingDevice, AModelThatMovesIsHealedToo) {
    Scene scene;
    const auto unet = scene.model("unet", 4);
    const auto handle = scene.load(unet, Scene::on(kA, unet)).value().handle;
    scene.machine.inject(kB, {.allocation = 2});
    EXPECT_EQ(scene.load(unet, Scene::on(kB, unet)).value().handle, handle);
    EXPECT_EQ(scene.held(kA), Bytes{});
    EXPECT_EQ(scene.held(kB), blocks(4));
    scene.expect_content(handle);
}

/// A card that is smaller than its profile says: others use it.
TEST(RefusingDevice, TwoRefusalsAreAnErrorWithBothFiguresAndNothingStays) {
    Scene scene({.a = blocks(8)});
    std::vector<device::Memory> others;
    for (int i = 0; i < 5; ++i)
        others.push_back(scene.machine.devices().find(kA)->allocate(kBlock).value());
    const auto unet = scene.model("unet", 6);
    const auto failed = scene.load(unet, Scene::on(kA, unet));
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code, Code::out_of_memory);
    EXPECT_TRUE(failed.error().shortfall.contains(kA));
    EXPECT_THAT(failed.error().why, HasSubstr("needed 1.00 MiB, free 0 B"));
    EXPECT_EQ(scene.room.releases, 1) << "no third try";
    EXPECT_THAT(scene.registry.models(), IsEmpty());
    others.clear();
    scene.expect_nothing_held();
    const auto loading = scene.load(unet, Scene::on(kA, unet));
    ASSERT_TRUE(loading.has_value());
    scene.expect_content(loading->handle);
}

/// The account allows less than what the room was thought to be.
TEST(RefusingDevice, ALimitThatRefusesIsTriedAgainOnlyIfSomethingWasReleased) {
    for (const auto& [released, tries] : {std::pair{Bytes{}, 1}, {1_MiB, 2}}) {
        Scene scene;
        scene.room.kept = released;
        scene.ledger.set_limit(kA, blocks(2));
        const auto unet = scene.model("unet", 4);
        const auto failed = scene.load(unet, Scene::on(kA, unet));
        ASSERT_FALSE(failed.has_value());
        EXPECT_EQ(failed.error().code, Code::does_not_fit);
        EXPECT_EQ(failed.error().shortfall.at(kA),
                  (Shortfall{.needed = blocks(4).count(), .available = blocks(2).count()}));
        EXPECT_EQ(scene.opened, tries);
        scene.expect_nothing_held();
    }
}

TEST(OutOfMemory, AnImpossibleRequestIsOneFailureAndTheQueueGoesOn) {
    // case 26, with a block for each GiB
    Scene scene({.a = blocks(8)});
    const auto big = scene.model("big", 40);
    const auto refused = scene.load(big, Scene::whole(kA, big));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::does_not_fit);
    EXPECT_THAT(to_string(refused.error()),
                HasSubstr("needed 40.00 MiB, available 8.00 MiB, missing 32.00 MiB"));

    const auto small = scene.model("small", 1);
    EXPECT_TRUE(scene.load(small, Scene::whole(kA, small)).has_value());

    const auto stub = scene.model("stub", 2);
    scene.machine.inject(kA, {.allocation = 1});
    EXPECT_TRUE(scene.load(stub, Scene::whole(kA, stub)).has_value());

    for (int i = 0; i < 8; ++i) {
        scene.registry.begin_prompt();
        const auto burst = scene.model("burst" + std::to_string(i), 6);
        const auto loading = scene.load(burst, Scene::whole(kA, burst));
        ASSERT_TRUE(loading.has_value()) << i << to_string(loading.error());
        scene.expect_content(loading->handle);
        int complete = 0;
        for (const auto& model : scene.registry.models())
            if (model.name.starts_with("burst") && model.is_complete) ++complete;
        EXPECT_EQ(complete, 1) << "never two are resident";
    }
    EXPECT_LE(scene.ledger.snapshot()[kA].peak, blocks(8));
    EXPECT_EQ(scene.held(kA), scene.registry.held().at(kA)) << "only loaded models are held";
    scene.registry.release_all();
    scene.expect_nothing_held();
}

}  // namespace
}  // namespace ballast::residency::testing
