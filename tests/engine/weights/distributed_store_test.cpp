// Weight stores over several devices, simulated ones.

#include <gtest/gtest.h>

#include "tests/engine/weights/two_cards.hpp"
#include "tests/support/random.hpp"

namespace ballast::weights {
namespace {

using namespace ballast::literals;
using testing::kCard;
using testing::kOther;
using Fixture = testing::TwoCards;

void expect_bytes_of_file(const WeightStore& store) {
    for (std::uint32_t b = 0; b < store.table().blocks().size(); ++b) {
        const auto pin = store.pin({b});
        ASSERT_TRUE(pin.has_value()) << to_string(pin.error());
        for (std::size_t t = 0; t < pin->block().tensors.size(); ++t) {
            const auto bytes = pin->bytes(t);
            const auto from = pin->block().tensors[t].offset;
            for (std::size_t i = 0; i < bytes.size(); ++i)
                ASSERT_EQ(bytes[i], PatternReader::at(from + i))
                    << pin->block().tensors[t].name << " " << i;
        }
    }
}

TEST(DistributedStore, ShowsTheFilesBytesWhereverBlocksLive) {
    ::ballast::testing::Random random(11);
    const std::vector<DeviceId> homes{kCpu, kCard, kOther, kDisk};
    for (int round = 0; round < 40; ++round) {
        Fixture fixture;
        std::vector<DeviceId> chosen;
        for (int i = 0; i < 4; ++i) chosen.push_back(homes[random.below(homes.size())]);
        const auto compute = homes[random.below(3)];
        const auto store = fixture.load(fixture.plan(compute, chosen));
        ASSERT_TRUE(store.has_value()) << to_string(store.error());
        expect_bytes_of_file(**store);
        expect_bytes_of_file(**store);
    }
}

TEST(DistributedStore, PlannedBytesAreRealisedBytesAreReservedBytes) {
    Fixture fixture;
    const auto made = fixture.plan(kCard, {kCard, kOther, kDisk, kCpu});
    const auto store = fixture.load(made);
    ASSERT_TRUE(store.has_value());
    EXPECT_EQ((*store)->realised(), made.per_device);
    const auto snapshot = fixture.ledger.snapshot();
    for (const auto& [device, bytes] : made.per_device)
        EXPECT_EQ(snapshot.at(device).tag(device::Tag::weights).now, bytes) << to_string(device);
    EXPECT_EQ(snapshot.at(kCard).tag(device::Tag::ring).now, made.ring);
    EXPECT_EQ(snapshot.at(kCpu).tag(device::Tag::simulation).now,
              made.per_device.at(kCard) + made.per_device.at(kOther) + made.ring)
        << "bytes of simulated cards lie in host memory";
}

TEST(DistributedStore, GivesEverythingBackOnEveryDevice) {
    Fixture fixture;
    {
        const auto store = fixture.load(fixture.plan(kCard, {kCard, kOther, kDisk, kCpu}));
        ASSERT_TRUE(store.has_value());
        EXPECT_FALSE(fixture.held(kOther).is_zero());
    }
    fixture.expect_nothing_held();
}

TEST(DistributedStore, NothingIsHeldWhenOneDeviceOfSeveralRefuses) {
    for (const auto limited : {kCpu, kCard, kOther}) {
        Fixture fixture;
        fixture.ledger.set_limit(limited, 700'000_B);
        const auto store = fixture.load(fixture.plan(kCard, {kCard, kOther, kCpu, kCpu}));
        ASSERT_FALSE(store.has_value());
        EXPECT_EQ(store.error().code, Code::does_not_fit);
        EXPECT_TRUE(store.error().shortfall.contains(limited));
        EXPECT_EQ(fixture.reader->reads, 0);
        fixture.expect_nothing_held();
    }
}

TEST(DistributedStore, NothingIsHeldWhenADriverRefusesOrACopyFails) {
    for (const auto& faults : {device::sim::Faults{.allocation = 1}, {.copy = 1}, {.lost_at = 1}}) {
        Fixture fixture;
        fixture.machine.inject(kOther, faults);
        const auto store = fixture.load(fixture.plan(kCard, {kCard, kOther, kCpu, kCpu}));
        ASSERT_FALSE(store.has_value());
        fixture.expect_nothing_held();
    }
}

TEST(DistributedStore, AFailedCopyAtUseIsToldAndTheNextUseWorks) {
    Fixture fixture;
    const auto store = fixture.load(fixture.plan(kCard, {kCard, kCpu, kCpu, kCpu}));
    ASSERT_TRUE(store.has_value());
    ASSERT_TRUE((*store)->pin({1}).has_value());
    // streams of failed copies are broken for good, as a device that lost its context is
    fixture.machine.inject(kCard, {.lost_at = 1});
    const auto failed = (*store)->pin({2});
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code, Code::device_lost);
    EXPECT_EQ(failed.error().place.key, "c");
    EXPECT_TRUE((*store)->pin({0}).has_value()) << "resident blocks need no copy";
    EXPECT_EQ((*store)->pins(), 0U);
}

TEST(DistributedStore, ABlockThatIsStillInTheRingIsNotCopiedAgain) {
    Fixture fixture;
    const auto store = fixture.load(fixture.plan(kCard, {kCard, kCpu, kCpu, kCpu}));
    ASSERT_TRUE(store.has_value());
    fixture.transfers.reset_counts();
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE((*store)->pin({1}).has_value());
        ASSERT_TRUE((*store)->pin({2}).has_value());
    }
    EXPECT_EQ((fixture.transfers.counts().ways.at({kCpu, kCard}).copies), 2U);
    ASSERT_TRUE((*store)->pin({3}).has_value());
    ASSERT_TRUE((*store)->pin({2}).has_value()) << "the older one made room";
    EXPECT_EQ((fixture.transfers.counts().ways.at({kCpu, kCard}).copies), 3U);
}

TEST(DistributedStore, MorePinsThanSlotsAreAnErrorNotADeadlock) {
    Fixture fixture;
    const auto store = fixture.load(fixture.plan(kCard, {kCpu, kCpu, kCpu, kCpu}));
    ASSERT_TRUE(store.has_value());
    {
        const auto first = (*store)->pin({0});
        const auto second = (*store)->pin({1});
        const auto third = (*store)->pin({2});
        ASSERT_TRUE(first.has_value() && second.has_value());
        ASSERT_FALSE(third.has_value());
        EXPECT_EQ(third.error().code, Code::out_of_memory);
    }
    EXPECT_TRUE((*store)->pin({2}).has_value());
}

TEST(DistributedStore, HomesOfOnePoolAreReadInPlace) {
    Fixture fixture;
    auto made = fixture.plan(kCard, {kCard, kCpu, kCpu, kCpu});
    made.ring = 0_B;
    made.read_in_place = {kCpu};
    const auto store = fixture.load(made);
    ASSERT_TRUE(store.has_value());
    fixture.transfers.reset_counts();
    expect_bytes_of_file(**store);
    EXPECT_TRUE(fixture.transfers.counts().ways.empty());
}

TEST(DistributedStore, APlanWithoutRoomForItsStreamedBlocksIsAFault) {
    Fixture fixture;
    auto made = fixture.plan(kCard, {kCard, kCpu, kCpu, kCpu});
    made.ring = 700'000_B;
    const auto store = fixture.load(made);
    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().code, Code::internal);
    fixture.expect_nothing_held();
}

TEST(ReleasedTail, GoesFromTheEndOfTheModelTheRingFirst) {
    Fixture fixture;
    const auto store = *fixture.load(fixture.plan(kCard, {kCard, kCard, kCpu, kCard}));
    const Bytes block{700'036};
    const Bytes ring{2 * 700'096};
    EXPECT_EQ(store->tail(kCard), (std::vector<Bytes>{ring, block, block, block}));
    EXPECT_EQ(store->tail(kCpu), (std::vector<Bytes>{block}));
    EXPECT_EQ(store->release_tail(kCard, 1_B), ring);
    EXPECT_EQ(store->release_tail(kCard, 700'037_B), block.times(2));
    EXPECT_EQ(store->held(), (std::map<DeviceId, Bytes>{{kCard, block}, {kCpu, block}}));
    EXPECT_EQ(fixture.held(kCard), block);
    EXPECT_EQ(fixture.machine.devices().find(kCard)->memory().held, Bytes{700'416}) << "in pages";
    EXPECT_FALSE(store->is_complete());
    const auto pin = store->pin({0});
    ASSERT_FALSE(pin.has_value()) << "an incomplete model computes nothing";
    EXPECT_EQ(store->release_tail(kCard, 10'000'000_B), block);
    EXPECT_EQ(store->release_tail(kCard, 1_B), Bytes{}) << "nothing is left there";
    EXPECT_EQ(store->held(), (std::map<DeviceId, Bytes>{{kCpu, block}}));
}

TEST(ReleasedTail, CopiesNothingAndTakesNothing) {
    Fixture fixture;
    const auto store = *fixture.load(fixture.plan(kCard, {kCard, kCard, kCard, kCard}));
    const auto before = fixture.transfers.counts();
    const auto reads = fixture.reader->reads.load();
    fixture.ledger.reset_peaks();
    const auto peak = fixture.ledger.snapshot()[kCpu].peak;
    store->release_tail(kCard, 1'000'000_B);
    EXPECT_EQ(fixture.transfers.counts(), before);
    EXPECT_EQ(fixture.reader->reads, reads);
    EXPECT_EQ(fixture.ledger.snapshot()[kCpu].peak, peak);
}

TEST(LoadingAgain, ReadsOnlyWhatHadGone) {
    Fixture fixture;
    const auto made = fixture.plan(kCard, {kCard, kCard, kCpu, kCard});
    auto store = *fixture.load(made);
    const auto reads_of_all = fixture.reader->reads.load();
    store->release_tail(kCard, 1'400'193_B);  // the ring and a block
    const auto again = fixture.load(made, std::move(store));
    ASSERT_TRUE(again.has_value()) << to_string(again.error());
    EXPECT_LT(fixture.reader->reads - reads_of_all, reads_of_all);
    EXPECT_EQ((*again)->taken_over(), Bytes{3 * 700'036});
    EXPECT_EQ((*again)->realised(), made.per_device);
    expect_bytes_of_file(**again);
}

TEST(LoadingAgain, ByAnotherPlanKeepsWhatBothHaveAndHoldsNothingElse) {
    ::ballast::testing::Random random(5);
    const std::vector<DeviceId> homes{kCpu, kCard, kOther, kDisk};
    for (int round = 0; round < 60; ++round) {
        Fixture fixture;
        const auto chosen = [&] {
            std::vector<DeviceId> made;
            for (int i = 0; i < 4; ++i) made.push_back(homes[random.below(homes.size())]);
            return fixture.plan(homes[random.below(3)], made);
        };
        const auto first = chosen();
        const auto second = chosen();
        auto store = *fixture.load(first);
        if (random.once_in(2)) store->release_tail(kCard, Bytes{random.below(2'000'000)});
        const auto again = fixture.load(second, std::move(store));
        ASSERT_TRUE(again.has_value()) << to_string(again.error());
        for (const auto& [device, bytes] : second.per_device)
            ASSERT_EQ((*again)->realised().at(device), bytes);
        auto wanted = second.per_device;
        wanted[second.compute] += second.ring;
        std::erase_if(
            wanted, [](const auto& each) { return each.first == kDisk || each.second.is_zero(); });
        ASSERT_EQ((*again)->held(), wanted);
        for (const auto& [device, bytes] : wanted) ASSERT_EQ(fixture.held(device), bytes);
        expect_bytes_of_file(**again);
    }
}

TEST(LoadingAgain, ThatFailsLeavesNothing) {
    for (const auto& faults : {device::sim::Faults{.allocation = 1}, {.copy = 1}}) {
        Fixture fixture;
        auto store = *fixture.load(fixture.plan(kCard, {kCard, kCpu, kCpu, kCard}));
        fixture.machine.inject(kOther, faults);
        const auto again =
            fixture.load(fixture.plan(kCard, {kCard, kOther, kCpu, kCard}), std::move(store));
        ASSERT_FALSE(again.has_value());
        fixture.expect_nothing_held();
    }
}

TEST(LoadingAgain, APlanThatDoesNotFitLeavesTheFormerStoreAsItWas) {
    Fixture fixture;
    const auto made = fixture.plan(kCard, {kCard, kCpu, kCpu, kCard});
    const auto store = *fixture.load(made);
    auto refused = made;
    refused.fits = false;
    EXPECT_FALSE(fixture.load(refused, store).has_value());
    EXPECT_TRUE(store->is_complete());
    expect_bytes_of_file(*store);
}

}  // namespace
}  // namespace ballast::weights
