#include "ballast/engine/residency/phase.hpp"

#include <gmock/gmock.h>

#include "ballast/engine/plan/planner.hpp"
#include "tests/support/random.hpp"

namespace ballast::residency {
namespace {

using ::testing::IsEmpty;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
constexpr DeviceId kGpu0{DeviceKind::cuda, 0};
constexpr DeviceId kGpu1{DeviceKind::cuda, 1};

Bytes gib(std::uint64_t count) { return Bytes{count * kGiB}; }

/// A host of 60 GiB and cards of so many.
plan::PlanMachine machine_with(std::uint64_t first, std::uint64_t second = 0) {
    plan::PlanMachine machine{
        .devices = {{.id = kCpu, .capacity = gib(60)}, {.id = kGpu0, .capacity = gib(first)}},
        .disk_bytes_per_s = 1'000'000'000};
    if (second != 0) machine.devices.push_back({.id = kGpu1, .capacity = gib(second)});
    for (const auto& from : machine.devices)
        for (const auto& to : machine.devices)
            if (from.id != to.id) machine.links.push_back({from.id, to.id, 12'000'000'000, 10'000});
    return machine;
}

Loaded resident(std::string name, DeviceId device, std::uint64_t count) {
    static std::uint64_t uses = 0;
    return {.name = std::move(name), .held = {{device, gib(count)}}, .last_use = ++uses};
}

/// A model of so many blocks of 1 GiB each that computes on the first card.
plan::PlanRequest model_of(std::size_t count, plan::Policy policy = {}) {
    plan::PlanRequest request{.policy = std::move(policy), .compute = kGpu0};
    for (std::size_t i = 0; i < count; ++i)
        request.blocks.push_back({.name = "B" + std::to_string(i), .bytes = gib(1)});
    return request;
}

/// Whole models.
std::vector<Eviction> whole(std::vector<std::size_t> indices) {
    std::vector<Eviction> gone;
    for (const auto index : indices) gone.push_back({.index = index});
    return gone;
}

PlanMaker maker(plan::PlanRequest request) {
    return [request = std::move(request)](const plan::PlanMachine& left) {
        auto asked = request;
        asked.machine = left;
        return plan::make_plan(asked);
    };
}

/// Blocks resident on the first card whatever its room.
plan::PlanRequest placed_on_the_card(std::size_t count) {
    return model_of(count, {.mode = plan::Mode::bytes, .compute = kGpu0, .rest = kGpu0});
}

TEST(PlanPhase, NobodyGoesWithoutPressure) {
    const std::vector residents{resident("old", kGpu0, 8), resident("new", kGpu0, 4)};
    const auto phase = plan_phase(machine_with(22), residents, maker(model_of(10)));
    EXPECT_THAT(phase.evicted, IsEmpty());
    EXPECT_TRUE(phase.plan.moved.is_zero());
}

TEST(PlanPhase, TheLeastRecentlyUsedGoesFirst) {
    const std::vector residents{resident("old", kGpu0, 8), resident("new", kGpu0, 4)};
    const auto phase = plan_phase(machine_with(22), residents, maker(model_of(12)));
    EXPECT_EQ(phase.evicted, whole({0U}));
    EXPECT_TRUE(phase.plan.moved.is_zero());
    EXPECT_EQ(plan_phase(machine_with(22), residents, maker(model_of(20))).evicted,
              whole({0U, 1U}));
}

TEST(PlanPhase, WhoeverHoldsNothingWhereRoomIsMissingStays) {
    const std::vector residents{resident("host", kCpu, 40), resident("other", kGpu1, 8),
                                resident("card", kGpu0, 8)};
    const auto phase = plan_phase(machine_with(12, 12), residents, maker(model_of(10)));
    EXPECT_EQ(phase.evicted, whole({2U}));
}

TEST(PlanPhase, WhoeverComputesStays) {
    std::vector residents{resident("busy", kGpu0, 8), resident("idle", kGpu0, 4)};
    residents[0].is_idle = false;
    const auto phase = plan_phase(machine_with(14), residents, maker(model_of(6)));
    EXPECT_EQ(phase.evicted, whole({1U}));
    EXPECT_TRUE(phase.plan.moved.is_zero());
}

TEST(PlanPhase, NobodyGoesForNothing) {
    // all of the card would not do, and streaming is the same with and without the small one
    std::vector residents{resident("busy", kGpu0, 21), resident("host", kCpu, 1)};
    residents[0].is_idle = false;
    const auto phase = plan_phase(machine_with(22), residents, maker(model_of(3)));
    EXPECT_THAT(phase.evicted, IsEmpty());
}

TEST(PlanPhase, ThatTheProcessorCouldComputeIsNoReasonToStay) {
    auto request = model_of(2);
    request.compute.reset();
    request.activations = gib(6);
    const std::vector residents{resident("old", kGpu0, 8)};
    const auto phase = plan_phase(machine_with(12), residents, maker(request));
    EXPECT_EQ(phase.evicted, whole({0U}));
    EXPECT_EQ(phase.plan.compute, kGpu0);
    EXPECT_EQ(phase.left, machine_with(12));
    const auto elsewhere = plan_phase(machine_with(12, 11), residents, maker(request));
    EXPECT_THAT(elsewhere.evicted, IsEmpty()) << "a second card is one";
    EXPECT_EQ(elsewhere.plan.compute, kGpu1);
    request.activations = gib(20);
    EXPECT_THAT(plan_phase(machine_with(12), residents, maker(request)).evicted, IsEmpty())
        << "the card is too small even alone";
}

TEST(PlanPhase, AnAllocationThatFitsIsNoReasonToGo) {
    const std::vector residents{resident("old", kGpu0, 8)};
    const plan::Policy split{.mode = plan::Mode::bytes,
                             .compute = kGpu0,
                             .entries = {{.device = kGpu0, .bytes = gib(4)}},
                             .rest = kCpu};
    const auto phase = plan_phase(machine_with(22), residents, maker(model_of(20, split)));
    EXPECT_THAT(phase.evicted, IsEmpty());
    EXPECT_FALSE(phase.plan.moved.is_zero()) << "as the user wants it";
    EXPECT_EQ(plan_phase(machine_with(13), residents, maker(model_of(20, split))).evicted,
              whole({0U}))
        << "4 GiB and a ring of 2 beside 8";
}

TEST(PlanPhase, WhatDoesNotFitEvenAloneIsStillAPlan) {
    const std::vector residents{resident("old", kGpu0, 8)};
    const auto phase = plan_phase(machine_with(12), residents, maker(placed_on_the_card(20)));
    EXPECT_FALSE(phase.plan.fits);
    EXPECT_EQ(phase.plan.shortfall.at(kGpu0).needed, 20 * kGiB);
}

TEST(PlanPhase, DevicesOfOnePoolPressEachOther) {
    auto machine = machine_with(20);
    machine.devices[0].pool = kGpu0;
    const std::vector residents{resident("host", kCpu, 10)};
    const auto phase = plan_phase(machine, residents, maker(placed_on_the_card(15)));
    EXPECT_EQ(phase.evicted, whole({0U})) << "its bytes lie in the card's pool";
    EXPECT_TRUE(phase.plan.fits);
}

TEST(PlanPhase, IsNeverWorseThanWithoutEviction) {
    ballast::testing::Random random(11);
    for (int round = 0; round < 200; ++round) {
        const auto machine = machine_with(random.between(4, 24), random.below(2) * 12);
        std::vector<Loaded> residents;
        for (auto count = random.below(4); count > 0; --count) {
            residents.push_back(resident("r", random.one_of(std::vector{kCpu, kGpu0, kGpu1}),
                                         random.between(1, 8)));
            residents.back().is_idle = !random.once_in(4);
        }
        const auto size = random.between(1, 12);
        const auto make = maker(random.once_in(3) ? placed_on_the_card(size) : model_of(size));
        const auto free_choice = plan_phase(machine, residents, make);
        auto held = residents;
        for (auto& each : held) each.is_idle = false;
        const auto all_stay = plan_phase(machine, held, make);
        ASSERT_THAT(all_stay.evicted, IsEmpty());
        ASSERT_GE(free_choice.plan.fits, all_stay.plan.fits) << round;
        if (free_choice.plan.fits == all_stay.plan.fits) {
            ASSERT_LE(free_choice.plan.moved, all_stay.plan.moved) << round;
        }
        std::size_t before = 0;
        for (const auto& gone : free_choice.evicted) {
            ASSERT_TRUE(residents[gone.index].is_idle) << round;
            ASSERT_GE(gone.index, before) << "least recently used first, round " << round;
            before = gone.index;
        }
        if (free_choice.plan == all_stay.plan) {
            ASSERT_THAT(free_choice.evicted, IsEmpty());
        }
    }
}

Loaded in_pieces(std::string name, DeviceId device, std::uint64_t count) {
    auto made = resident(std::move(name), device, count);
    made.tail[device].assign(count, gib(1));
    return made;
}

TEST(PlanPhase, TheLastOneGivesUpNoMoreOfItsTailThanIsNeeded) {
    const std::vector residents{in_pieces("old", kGpu0, 8), in_pieces("new", kGpu0, 6)};
    const auto phase = plan_phase(machine_with(22), residents, maker(model_of(12)));
    EXPECT_EQ(phase.evicted, (std::vector<Eviction>{{0, {{kGpu0, gib(4)}}}}));
    EXPECT_TRUE(phase.plan.moved.is_zero());
    EXPECT_EQ(plan_phase(machine_with(22), residents, maker(model_of(18))).evicted,
              (std::vector<Eviction>{{0, {}}, {1, {{kGpu0, gib(2)}}}}));
}

TEST(PlanPhase, WhatAModelHoldsElsewhereStays) {
    auto split = in_pieces("split", kGpu0, 8);
    split.held[kCpu] = gib(20);
    split.tail[kCpu].assign(20, gib(1));
    const auto phase = plan_phase(machine_with(12), {split}, maker(model_of(12)));
    EXPECT_EQ(phase.evicted, (std::vector<Eviction>{{0, {{kGpu0, gib(8)}}}}));
}

TEST(PlanPhase, FlaggedModelsGoBeforeOrdinaryOnesAndThoseBeforeRetainedOnes) {
    std::vector residents{resident("retained", kGpu0, 6), resident("ordinary", kGpu0, 6),
                          resident("flagged", kGpu0, 6)};
    residents[0].standing = Standing::retained;
    residents[2].standing = Standing::flagged;
    const auto gone = [&](std::size_t blocks) {
        return plan_phase(machine_with(20), residents, maker(placed_on_the_card(blocks))).evicted;
    };
    EXPECT_EQ(gone(2), whole({}));
    EXPECT_EQ(gone(8), whole({2}));
    EXPECT_EQ(gone(14), whole({2, 1}));
    EXPECT_EQ(gone(20), whole({2, 1, 0})) << "the last resort";
}

TEST(PlanPhase, ARetainedModelStaysWhereTheNewOneCanStream) {
    std::vector residents{resident("retained", kGpu0, 12)};
    residents[0].standing = Standing::retained;
    const auto phase = plan_phase(machine_with(20), residents, maker(model_of(12)));
    EXPECT_THAT(phase.evicted, IsEmpty());
    EXPECT_TRUE(phase.plan.fits);
    EXPECT_FALSE(phase.plan.moved.is_zero());
}

TEST(PlanPhase, WhatIsWantedNextGoesLast) {
    std::vector residents{resident("next", kGpu0, 6), resident("later", kGpu0, 6),
                          resident("unwanted", kGpu0, 6)};
    residents[0].next_use = 0;
    residents[1].next_use = 3;
    residents[0].standing = Standing::flagged;
    const auto gone = [&](std::size_t blocks) {
        return plan_phase(machine_with(20), residents, maker(placed_on_the_card(blocks))).evicted;
    };
    EXPECT_EQ(gone(8), whole({2}));
    EXPECT_EQ(gone(14), whole({2, 1}));
    EXPECT_EQ(gone(20), whole({2, 1, 0}));
}

TEST(PlanPhase, OfOnePromptThoseGoThatAreReadAgainMostCheaply) {
    std::vector residents{resident("dear", kGpu0, 6), resident("cheap", kGpu0, 6),
                          resident("earlier", kGpu0, 6)};
    residents[0].held[kCpu] = gib(30);  // what frees six costs reading thirty-six
    for (auto& each : residents) each.prompt = 2;
    residents[2].prompt = 1;
    residents[2].held[kCpu] = gib(9);
    const auto gone = [&](std::size_t blocks) {
        return plan_phase(machine_with(20), residents, maker(placed_on_the_card(blocks))).evicted;
    };
    EXPECT_EQ(gone(8), whole({2})) << "an earlier prompt counts more";
    EXPECT_EQ(gone(14), whole({2, 1}));
}

/// Case 16 of users' reports.
TEST(PlanPhase, OnlyDevicesWithPressureAreTouched) {
    const std::vector residents{resident("text_encoder", kGpu1, 8), resident("vae", kGpu1, 1),
                                resident("high_noise", kGpu0, 14)};
    auto low_noise = placed_on_the_card(14);
    low_noise.activations = gib(4);
    const auto phase = plan_phase(machine_with(24, 12), residents, maker(low_noise));
    EXPECT_EQ(phase.evicted, whole({2}));
    EXPECT_TRUE(phase.plan.fits);
}

TEST(HeldBy, AreBlocksAndRingWithoutTheFile) {
    const plan::Plan plan{
        .compute = kGpu0,
        .per_device = {{kGpu0, gib(2)}, {kCpu, gib(3)}, {DeviceId{DeviceKind::disk, 0}, gib(4)}},
        .ring = gib(1),
        .activations = gib(9)};
    EXPECT_EQ(held_by(plan), (std::map<DeviceId, Bytes>{{kCpu, gib(3)}, {kGpu0, gib(3)}}));
}

}  // namespace
}  // namespace ballast::residency
