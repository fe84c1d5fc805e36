// What the allocator of a simulated device keeps, and what is asked of the device.

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "ballast/engine/device/sim/sim_machine.hpp"

namespace ballast::device::sim {
namespace {

using namespace ballast::literals;

constexpr DeviceId kCard{DeviceKind::cuda, 0};
constexpr DeviceId kOther{DeviceKind::cuda, 1};

/// Two cards of 64 MiB; the first one keeps what is freed.
class SimCache : public ::testing::Test {
protected:
    SimCache() { machine_.keep_cache(kCard); }

    Device& card() { return *machine_.devices().find(kCard); }
    Device& other() { return *machine_.devices().find(kOther); }
    /// Allocates and frees blocks that live at the same time.
    static void use(Device& device, const std::vector<Bytes>& sizes) {
        std::vector<Memory> blocks;
        for (const auto size : sizes) {
            auto block = device.allocate(size);
            ASSERT_TRUE(block.has_value());
            blocks.push_back(*std::move(block));
        }
    }

    static machine::MachineProfile two_cards() {
        machine::MachineProfile profile;
        for (const auto id : {kCard, kOther}) {
            profile.devices.push_back({.id = id, .total = 64_MiB, .granularity = 2_MiB});
            profile.links.push_back({.from = kCpu, .to = id, .gbps = 10});
        }
        return profile;
    }

    SimMachine machine_{two_cards(), std::make_shared<VirtualTime>()};
};

TEST_F(SimCache, KeepsFreedBlocksWhichAreThenNeitherHeldNorFree) {
    use(card(), {3_MiB, 10_MiB});
    EXPECT_EQ(card().memory().held, 0_B);
    EXPECT_EQ(card().memory().cached, 14_MiB) << "rounded up";
    EXPECT_EQ(card().memory().free, 50_MiB);
}

TEST_F(SimCache, IsKeptOnlyWhereItWasAskedFor) {
    use(other(), {10_MiB});
    EXPECT_EQ(other().memory().cached, 0_B);
    EXPECT_EQ(other().memory().free, 64_MiB);
}

TEST_F(SimCache, GivesABlockOutAgainForARequestThatRoundsToItsSize) {
    use(card(), {4_MiB, 4_MiB, 10_MiB});
    const auto same = card().allocate(3_MiB);
    EXPECT_EQ(card().memory().cached, 14_MiB);
    EXPECT_EQ(card().memory().held, 4_MiB);
    EXPECT_EQ(card().memory().free, 46_MiB) << "as before";
    const auto different = card().allocate(6_MiB);
    EXPECT_EQ(card().memory().cached, 14_MiB);
    EXPECT_EQ(card().memory().free, 40_MiB);
}

TEST_F(SimCache, MakesWayForWhatWouldNotFitOtherwise) {
    use(card(), {30_MiB, 20_MiB});
    EXPECT_TRUE(card().allocate(14_MiB).has_value());
    EXPECT_EQ(card().memory().cached, 64_MiB) << "that fitted beside it";
    const auto large = card().allocate(60_MiB);
    EXPECT_TRUE(large.has_value());
    EXPECT_EQ(card().memory().cached, 0_B);
    EXPECT_EQ(card().memory().free, 4_MiB);
}

TEST_F(SimCache, IsReleasedBeforeAnAllocationIsRefused) {
    use(card(), {30_MiB});
    const auto refused = card().allocate(65_MiB);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().shortfall.at(kCard).available, (64_MiB).count());
}

TEST_F(SimCache, IsEmptiedOnRequest) {
    use(card(), {30_MiB, 20_MiB});
    EXPECT_EQ(card().empty_cache().value_or(0_B), 50_MiB);
    EXPECT_EQ(card().memory().cached, 0_B);
    EXPECT_EQ(card().memory().free, 64_MiB);
    EXPECT_EQ(card().empty_cache().value_or(1_B), 0_B);
}

TEST_F(SimCache, StaysWhereItIsWhenEmptyingFails) {
    use(card(), {30_MiB});
    machine_.inject(kCard, {.empty_cache = true});
    const auto failed = card().empty_cache();
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code, Code::io);
    EXPECT_EQ(card().memory().cached, 30_MiB);
    machine_.inject(kCard, {});
    EXPECT_EQ(card().empty_cache().value_or(0_B), 30_MiB);
}

TEST_F(SimCache, OfALostDeviceCannotBeEmptied) {
    std::byte byte{};
    auto memory = card().allocate(1_B);
    machine_.inject(kCard, {.lost_at = 1});
    const auto stream = card().open_stream();
    static_cast<void>((*stream)->copy({kCard, {memory->data(), 1}}, {kCpu, {&byte, 1}}));
    EXPECT_EQ(card().synchronise().error().code, Code::device_lost);
    EXPECT_EQ(card().empty_cache().error().code, Code::device_lost);
    EXPECT_TRUE(other().synchronise());
}

TEST_F(SimCache, ACopyThatFailedIsToldByItsStreamAndNotBySynchronising) {
    std::byte byte{};
    auto memory = card().allocate(1_B);
    machine_.inject(kCard, {.copy = 1});
    const auto stream = card().open_stream();
    ASSERT_TRUE((*stream)->copy({kCard, {memory->data(), 1}}, {kCpu, {&byte, 1}}));
    EXPECT_TRUE(card().synchronise());
    EXPECT_EQ((*stream)->finish().error().code, Code::io);
}

TEST_F(SimCache, CallsAreCountedForEachDeviceAndLookingIsNone) {
    static_cast<void>(card().memory());
    static_cast<void>(card().is_awake());
    static_cast<void>(card().reaches(kOther));
    static_cast<void>(card().synchronise());
    static_cast<void>(card().empty_cache());
    EXPECT_EQ(machine_.calls(kCard), 0U) << "and nothing wakes it";
    std::uint64_t calls = 0;
    const auto is_called = [&] {
        return machine_.calls(kCard) > std::exchange(calls, machine_.calls(kCard));
    };
    auto memory = card().allocate(1_B);
    EXPECT_TRUE(is_called());
    const auto stream = card().open_stream();
    EXPECT_TRUE(is_called());
    std::byte byte{};
    static_cast<void>((*stream)->copy({kCard, {memory->data(), 1}}, {kCpu, {&byte, 1}}));
    EXPECT_TRUE(is_called());
    const auto event = (*stream)->record();
    static_cast<void>(event->is_reached());
    EXPECT_TRUE(is_called());
    static_cast<void>((*stream)->finish());
    EXPECT_TRUE(is_called());
    memory = Memory{};
    EXPECT_TRUE(is_called());
    static_cast<void>(card().synchronise());
    EXPECT_TRUE(is_called());
    static_cast<void>(card().empty_cache());
    EXPECT_TRUE(is_called());
    EXPECT_FALSE(is_called()) << "not by asking for the count";
    EXPECT_EQ(machine_.calls(kOther), 0U);
}

}  // namespace
}  // namespace ballast::device::sim
