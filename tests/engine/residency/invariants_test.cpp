// Each check can fail: photographs, reports and accounts are falsified one thing at a time.

#include "ballast/engine/residency/invariants.hpp"

#include <gmock/gmock.h>

#include "tests/engine/residency/residency_scene.hpp"

namespace ballast::residency::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Two kept models and one that was let go.
struct Freed {
    Freed() {
        scene.loaded("one", 2, kA, kKeep);
        scene.loaded("gone", 3, kA, kFlagged);
        scene.loaded("two", 1, kB, kKeep);
        before = photograph(scene.registry, scene.ledger);
        report = scene.registry.release_flagged();
    }

    /// The names of the invariants that are told to be broken.
    [[nodiscard]] std::vector<std::string> broken() const {
        std::vector<std::string> names;
        for (const auto& line : broken_by_freeing(before, scene.registry, scene.ledger, report))
            names.push_back(line.substr(0, line.find(':')));
        return names;
    }

    Scene scene;
    Photograph before;
    FreeReport report;
};

TEST(Invariants, HoldAfterModelsWereLetGo) {
    const Freed freed;
    EXPECT_THAT(freed.broken(), IsEmpty());
}

TEST(Invariants, HoldWhereUsesAndFlagsChangedMeanwhile) {
    Freed freed;
    auto& registry = freed.scene.registry;
    const auto use = registry.use(freed.before.models[0].handle).value();
    ASSERT_TRUE(registry.set_retention("two.safetensors", Retention::keep));
    EXPECT_THAT(freed.broken(), IsEmpty());
}

TEST(Invariants, I1TellsOfAnotherOrder) {
    Freed freed;
    std::swap(freed.before.models[0], freed.before.models[2]);
    EXPECT_THAT(freed.broken(), ElementsAre("I1"));
}

TEST(Invariants, I1TellsOfAKeptModelThatIsNotListed) {
    Freed freed;
    static_cast<void>(freed.scene.registry.eject("two.safetensors"));
    EXPECT_THAT(freed.broken(), ElementsAre("I1", "I7"));
}

TEST(Invariants, I1TellsOfAModelThatCameFromNowhere) {
    Freed freed;
    freed.before.models.pop_back();
    EXPECT_THAT(freed.broken(), ElementsAre("I1"));
}

TEST(Invariants, I2TellsOfBlocksThatMoved) {
    const auto falsified = [](const std::function<void(ModelStatus&)>& change) {
        Freed freed;
        change(freed.before.models[0]);
        return freed.broken();
    };
    EXPECT_THAT(falsified([](auto& model) { model.homes = {{kB, blocks(2)}}; }),
                ElementsAre("I2", "I3"));
    EXPECT_THAT(falsified([](auto& model) { model.held[kCpu] = blocks(2); }),
                ElementsAre("I2", "I3"))
        << "a copy elsewhere";
    EXPECT_THAT(falsified([](auto& model) { model.plan_digest = "another"; }),
                ElementsAre("I2", "I3"));
}

TEST(Invariants, I3TellsOfAModelThatChanged) {
    Freed freed;
    freed.before.models[2].is_complete = false;
    EXPECT_THAT(freed.broken(), ElementsAre("I3"));
}

TEST(Invariants, I4TellsOfAModelThatWasLoadedAnew) {
    Freed freed;
    const auto handle = freed.before.models[0].handle;
    freed.before.stores[handle] = freed.before.stores[freed.before.models[2].handle];
    EXPECT_THAT(freed.broken(), ElementsAre("I4"));
}

TEST(Invariants, I6AndI8TellOfAFreedModelThatIsStillThere) {
    Freed freed;
    const auto& one = freed.before.models[0];
    freed.report.freed.push_back({.handle = one.handle, .name = one.name, .compute = kA});
    const auto lines =
        broken_by_freeing(freed.before, freed.scene.registry, freed.scene.ledger, freed.report);
    EXPECT_THAT(lines, ElementsAre(StartsWith("I1: "),
                                   "I6: one.safetensors (unet) was freed and is still listed",
                                   StartsWith("I8: one.safetensors (unet) was freed and its "
                                              "handle")));
}

TEST(Invariants, I7TellsOfBytesThatDidNotComeBackAsReported) {
    Freed freed;
    freed.report.freed[0].released[kA] = blocks(2);
    const auto lines =
        broken_by_freeing(freed.before, freed.scene.registry, freed.scene.ledger, freed.report);
    ASSERT_THAT(lines, ElementsAre(StartsWith("I7: ")));
    EXPECT_THAT(lines[0], HasSubstr("cuda:0 held 5242880, 2097152 were released, and it holds "
                                    "2097152"));
}

TEST(Invariants, I7LooksAtAllDevices) {
    Freed freed;
    freed.report.freed[0].released[kB] = blocks(1);
    EXPECT_THAT(freed.broken(), ElementsAre("I7"));
}

TEST(Invariants, I7TellsOfBytesThatCameBackWhereNoneWere) {
    Freed freed;
    freed.report.freed[0].released[kCpu] = blocks(1);
    EXPECT_THAT(freed.broken(), ElementsAre("I7"));
}

TEST(Invariants, I7TellsOfADeviceThatHoldsMoreThanBefore) {
    Freed freed;
    const auto more = freed.scene.ledger.reserve(kCpu, 1_MiB, device::Tag::weights).value();
    EXPECT_THAT(freed.broken(), ElementsAre("I7", "I11"));
}

TEST(Invariants, I11TellsOfWeightsThatBelongToNoModel) {
    for (const auto tag : {device::Tag::weights, device::Tag::ring}) {
        Scene scene;
        scene.loaded("one", 2, kA, kKeep);
        const auto stray = scene.ledger.reserve(kA, 1_MiB, tag).value();
        const auto before = photograph(scene.registry, scene.ledger);
        const auto lines = broken_by_freeing(before, scene.registry, scene.ledger, {});
        EXPECT_THAT(lines, ElementsAre(StartsWith("I11: "))) << to_string(tag);
    }
}

TEST(Invariants, WhatIsHeldForOtherPurposesIsNoModels) {
    Freed freed;
    const auto results = freed.scene.ledger.reserve(kCpu, 1_MiB, device::Tag::results).value();
    EXPECT_THAT(freed.broken(), IsEmpty());
}

TEST(Invariants, BlocksInTheirFileAreNobodysMemory) {
    Scene scene;
    const auto unet = scene.model("unet", 3);
    static_cast<void>(scene.load(unet, scene.as("cuda:0,1mb;disk,*#cuda:0", unet)).value());
    const auto before = photograph(scene.registry, scene.ledger);
    const auto report = scene.registry.release_all();
    EXPECT_THAT(broken_by_freeing(before, scene.registry, scene.ledger, report), IsEmpty());
}

/// Every device of a scene, as emptying should tell of it.
std::vector<CacheReport> reports_of(const Scene& scene) {
    std::vector<CacheReport> reports;
    for (const auto& device : scene.machine.devices().all())
        reports.push_back({.device = device->id(), .action = machine::CacheAction::release});
    return reports;
}

TEST(Invariants, I12TellsOfADeviceThatNobodyAsked) {
    const Scene scene;
    auto reports = reports_of(scene);
    EXPECT_THAT(broken_by_emptying(scene.machine.devices(), reports), IsEmpty());
    reports.pop_back();
    EXPECT_THAT(broken_by_emptying(scene.machine.devices(), reports),
                ElementsAre("I12: nobody asked cuda:1 to empty its cache"));
}

TEST(Invariants, I12TellsOfACacheThatShouldBeEmpty) {
    const Scene scene;
    auto reports = reports_of(scene);
    reports[1].kept = 2_MiB;
    EXPECT_THAT(broken_by_emptying(scene.machine.devices(), reports),
                ElementsAre("I12: cuda:0 still keeps 2.00 MiB for reuse"));
}

TEST(Invariants, I12AllowsACacheThatIsKeptForAReason) {
    const Scene scene;
    for (const auto& why :
         {CacheReport{.action = machine::CacheAction::synchronise, .kept = 2_MiB},
          CacheReport{.action = machine::CacheAction::release, .kept = 2_MiB, .is_asleep = true},
          CacheReport{.action = machine::CacheAction::release, .kept = 2_MiB, .error = Error{}}}) {
        auto reports = reports_of(scene);
        reports[1] = why;
        reports[1].device = kA;
        EXPECT_THAT(broken_by_emptying(scene.machine.devices(), reports), IsEmpty());
    }
}

}  // namespace
}  // namespace ballast::residency::testing
