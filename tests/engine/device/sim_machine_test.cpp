#include "ballast/engine/device/sim/sim_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ballast/engine/device/transfers.hpp"

namespace ballast::device::sim {
namespace {

using namespace ballast::literals;

constexpr DeviceId kCard{DeviceKind::cuda, 0};
constexpr DeviceId kOther{DeviceKind::cuda, 1};
constexpr Nanoseconds kMillisecond{1'000'000};

/// Two cards: 10 GB/s and 10 us from and to the host; the profile says what else there is.
machine::MachineProfile two_cards() {
    machine::MachineProfile profile;
    for (const auto id : {kCard, kOther}) {
        machine::DeviceProfile device{.id = id, .total = 64_MiB, .granularity = 2_MiB};
        device.tflops = {{"fp16", 10}};
        profile.devices.push_back(std::move(device));
        profile.links.push_back({.from = kCpu, .to = id, .gbps = 10, .latency_us = 10});
        profile.links.push_back({.from = id, .to = kCpu, .gbps = 10, .latency_us = 10});
    }
    return profile;
}

struct Fixture {
    explicit Fixture(const machine::MachineProfile& profile = two_cards())
        : machine(profile, time, &ledger) {}

    Device& card() { return *machine.devices().find(kCard); }
    Device& other() { return *machine.devices().find(kOther); }

    Ledger ledger;
    std::shared_ptr<VirtualTime> time = std::make_shared<VirtualTime>();
    SimMachine machine;
    std::vector<std::byte> bytes = std::vector<std::byte>(10'000'000, std::byte{7});
};

TEST(SimMachine, HasTheDevicesOfItsProfile) {
    Fixture fixture;
    ASSERT_EQ(fixture.machine.devices().all().size(), 3U);
    EXPECT_EQ(fixture.machine.devices().all()[0]->id(), kCpu);
    EXPECT_EQ(fixture.card().memory().total, 64_MiB);
    EXPECT_EQ(fixture.machine.devices().find({DeviceKind::cuda, 2}), nullptr);
}

TEST(SimMachine, RoundsAllocationsUpAndRefusesWhatTheCardCannotHold) {
    Fixture fixture;
    auto first = fixture.card().allocate(61_MiB);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(fixture.card().memory().held, 62_MiB);
    EXPECT_EQ(fixture.card().memory().free, 2_MiB);
    const auto second = fixture.card().allocate(2_MiB + 1_B);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, Code::out_of_memory);
    EXPECT_EQ(second.error().shortfall.at(kCard).needed, (4_MiB).count());
    EXPECT_EQ(second.error().shortfall.at(kCard).available, (2_MiB).count());
    EXPECT_TRUE(fixture.other().allocate(2_MiB + 1_B).has_value()) << "the other card has room";
}

TEST(SimMachine, OthersMayHoldPartOfACard) {
    auto profile = two_cards();
    profile.devices[0].free = 4_MiB;
    Fixture fixture(profile);
    EXPECT_FALSE(fixture.card().allocate(5_MiB).has_value());
    EXPECT_TRUE(fixture.card().allocate(4_MiB).has_value());
}

TEST(SimMachine, TellsTheLedgerWhatTheHostHoldsForIt) {
    Fixture fixture;
    {
        const auto memory = fixture.card().allocate(5_MiB);
        ASSERT_TRUE(memory.has_value());
        EXPECT_EQ(fixture.ledger.snapshot().at(kCpu).tag(Tag::simulation).now, 5_MiB);
    }
    EXPECT_EQ(fixture.ledger.snapshot().at(kCpu).tag(Tag::simulation).now, 0_B);
}

TEST(SimMachine, CopiesTakeLatencyAndBytesOverRate) {
    Fixture fixture;
    const auto memory = fixture.card().allocate(Bytes{fixture.bytes.size()});
    const auto stream = fixture.card().open_stream();
    ASSERT_TRUE(stream.has_value());
    ASSERT_TRUE((*stream)->copy({kCard, {memory->data(), 10'000'000}}, {kCpu, fixture.bytes}));
    EXPECT_EQ(fixture.time->now(), Nanoseconds{0}) << "the caller goes on at once";
    ASSERT_TRUE((*stream)->finish());
    EXPECT_EQ(fixture.time->now(), kMillisecond + Nanoseconds{10'000});
    const std::vector<LinkUse> expected{
        {kCpu, kCard, 1, Bytes{10'000'000}, 1'010'000, 10'000'000'000}};
    EXPECT_EQ(fixture.machine.link_use(), expected);
}

TEST(SimMachine, BytesArriveWhenSomebodyWaitedForThem) {
    Fixture fixture;
    const auto memory = fixture.card().allocate(64_B);
    const auto stream = fixture.card().open_stream();
    const std::vector<std::byte> sent(64, std::byte{9});
    ASSERT_TRUE((*stream)->copy({kCard, {memory->data(), 64}}, {kCpu, sent}));
    const auto event = (*stream)->record();
    EXPECT_FALSE(event->is_reached());
    EXPECT_EQ(*memory->data(), std::byte{0}) << "not before";
    ASSERT_TRUE(event->wait());
    EXPECT_TRUE(event->is_reached());
    EXPECT_EQ(*memory->data(), std::byte{9});
}

TEST(SimMachine, DirectionsAreLinksOfTheirOwnAndALinkCarriesOneCopyAtATime) {
    Fixture fixture;
    const auto memory = fixture.card().allocate(20_MiB);
    const auto in = fixture.card().open_stream();
    const auto second = fixture.card().open_stream();
    const auto out = fixture.card().open_stream();
    std::vector<std::byte> back(10'000'000);
    const auto place = [&](std::size_t from) {
        return std::span<std::byte>{memory->data() + from, 10'000'000};
    };
    ASSERT_TRUE((*in)->copy({kCard, place(0)}, {kCpu, fixture.bytes}));
    ASSERT_TRUE((*out)->copy({kCpu, back}, {kCard, place(10'000'000)}));
    ASSERT_TRUE((*in)->finish());
    ASSERT_TRUE((*out)->finish());
    EXPECT_EQ(fixture.time->now(), Nanoseconds{1'010'000}) << "both ways at once";
    ASSERT_TRUE((*in)->copy({kCard, place(0)}, {kCpu, fixture.bytes}));
    ASSERT_TRUE((*second)->copy({kCard, place(10'000'000)}, {kCpu, fixture.bytes}));
    ASSERT_TRUE((*second)->finish());
    EXPECT_EQ(fixture.time->now(), Nanoseconds{3'030'000}) << "one way, one after the other";
}

TEST(SimMachine, LinksThatShareAWayCompete) {
    auto profile = two_cards();
    profile.links[0].shared_with = {"cpu->cuda:1"};
    Fixture fixture(profile);
    const auto here = fixture.card().allocate(10_MiB);
    const auto there = fixture.other().allocate(10_MiB);
    const auto first = fixture.card().open_stream();
    const auto second = fixture.other().open_stream();
    ASSERT_TRUE((*first)->copy({kCard, {here->data(), 10'000'000}}, {kCpu, fixture.bytes}));
    ASSERT_TRUE((*second)->copy({kOther, {there->data(), 10'000'000}}, {kCpu, fixture.bytes}));
    ASSERT_TRUE((*second)->finish());
    EXPECT_EQ(fixture.time->now(), Nanoseconds{2'020'000});
}

TEST(SimMachine, ArithmeticRunsBesideCopies) {
    Fixture fixture;
    const auto memory = fixture.card().allocate(10_MiB);
    const auto stream = fixture.card().open_stream();
    ASSERT_TRUE((*stream)->copy({kCard, {memory->data(), 10'000'000}}, {kCpu, fixture.bytes}));
    fixture.machine.compute(kCard, 10'000'000'000);  // one millisecond at 10 TFLOP/s
    EXPECT_EQ(fixture.time->now(), kMillisecond);
    ASSERT_TRUE((*stream)->finish());
    EXPECT_EQ(fixture.time->now(), Nanoseconds{1'010'000});
    EXPECT_EQ(fixture.machine.compute_ns(), 1'000'000U);
}

TEST(SimMachine, InjectedFaultsComeWhenTheyAreCounted) {
    Fixture fixture;
    fixture.machine.inject(kCard, {.allocation = 2});
    EXPECT_TRUE(fixture.card().allocate(1_MiB).has_value());
    const auto refused = fixture.card().allocate(1_MiB);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::out_of_memory);
    const auto memory = fixture.card().allocate(10_MiB);
    ASSERT_TRUE(memory.has_value()) << "only that one";

    fixture.machine.inject(kCard, {.copy = 2});
    const auto stream = fixture.card().open_stream();
    const Target to{kCard, {memory->data(), 10'000'000}};
    ASSERT_TRUE((*stream)->copy(to, {kCpu, fixture.bytes}));
    ASSERT_TRUE((*stream)->finish());
    static_cast<void>((*stream)->copy(to, {kCpu, fixture.bytes}));
    const auto failed = (*stream)->finish();
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code, Code::io);
    EXPECT_FALSE((*stream)->copy(to, {kCpu, fixture.bytes}).has_value()) << "the stream is broken";
    EXPECT_TRUE((*fixture.card().open_stream())->copy(to, {kCpu, fixture.bytes}).has_value());
}

TEST(SimMachine, ALostDeviceStaysLost) {
    Fixture fixture;
    const auto memory = fixture.card().allocate(10_MiB);
    fixture.machine.inject(kCard, {.lost_at = 1});
    const auto stream = fixture.card().open_stream();
    const Target to{kCard, {memory->data(), 10'000'000}};
    static_cast<void>((*stream)->copy(to, {kCpu, fixture.bytes}));
    EXPECT_EQ((*stream)->finish().error().code, Code::device_lost);
    EXPECT_EQ(fixture.card().allocate(1_MiB).error().code, Code::device_lost);
    EXPECT_EQ((*fixture.card().open_stream())->copy(to, {kCpu, fixture.bytes}).error().code,
              Code::device_lost);
    EXPECT_TRUE(fixture.other().allocate(1_MiB).has_value());
}

TEST(SimMachine, ALinkCanSlowDown) {
    Fixture fixture;
    const auto memory = fixture.card().allocate(10_MiB);
    fixture.machine.set_rate(kCpu, kCard, 1'000'000'000);
    const auto stream = fixture.card().open_stream();
    ASSERT_TRUE((*stream)->copy({kCard, {memory->data(), 10'000'000}}, {kCpu, fixture.bytes}));
    ASSERT_TRUE((*stream)->finish());
    EXPECT_EQ(fixture.time->now(), 10 * kMillisecond + Nanoseconds{10'000});
}

TEST(Transfers, GoDirectlyBetweenPeersAndThroughTheHostOtherwise) {
    auto profile = two_cards();
    profile.links.push_back({.from = kOther, .to = kCard, .gbps = 10, .peer = true});
    Fixture fixture(profile);
    Transfers transfers(fixture.machine.devices(), fixture.ledger);
    const auto here = fixture.card().allocate(Bytes{20'000'000});
    const auto there = fixture.other().allocate(Bytes{20'000'000});
    ASSERT_TRUE(here.has_value() && there.has_value());
    std::vector<std::byte> sent(20'000'000);
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i % 253);
    std::vector<std::byte> back(sent.size());
    const std::span<std::byte> on_card{here->data(), sent.size()};
    const std::span<std::byte> on_other{there->data(), sent.size()};

    ASSERT_TRUE(transfers.copy({kOther, on_other}, {kCpu, sent}));
    ASSERT_TRUE(transfers.copy({kCard, on_card}, {kOther, on_other}));
    EXPECT_EQ(transfers.counts().staged.copies, 0U);
    EXPECT_EQ((transfers.counts().ways.at({kOther, kCard})), (TransferCount{1, 20'000'000_B}));
    ASSERT_TRUE(transfers.copy({kCpu, back}, {kCard, on_card}));
    EXPECT_EQ(back, sent);

    transfers.reset_counts();
    std::ranges::fill(on_other, std::byte{0});
    ASSERT_TRUE(transfers.copy({kOther, on_other}, {kCard, on_card}));
    EXPECT_EQ(transfers.counts().staged, (TransferCount{1, 20'000'000_B}));
    EXPECT_EQ((transfers.counts().ways.at({kCard, kCpu}).bytes), 20'000'000_B);
    EXPECT_EQ((transfers.counts().ways.at({kCpu, kOther}).bytes), 20'000'000_B);
    EXPECT_FALSE((transfers.counts().ways.contains({kCard, kOther})));
    EXPECT_TRUE(std::ranges::equal(on_other, sent));
    EXPECT_EQ(fixture.ledger.snapshot().at(kCpu).tag(Tag::staging).now, 16_MiB);
}

TEST(Transfers, TakeLessStagingWhereTheHostIsShortAndGiveItBack) {
    Fixture fixture;
    fixture.ledger.set_limit(kCpu, 1_MiB);
    Transfers transfers(fixture.machine.devices(), fixture.ledger);
    std::vector<std::byte> sent(3'000'000);
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 % 251);
    const auto here = fixture.card().allocate(Bytes{sent.size()});
    const auto there = fixture.other().allocate(Bytes{sent.size()});
    const std::span on_card{here->data(), sent.size()};
    const std::span on_other{there->data(), sent.size()};
    ASSERT_TRUE(transfers.copy({kCard, on_card}, {kCpu, sent}));
    ASSERT_TRUE(transfers.copy({kOther, on_other}, {kCard, on_card}));
    EXPECT_TRUE(std::ranges::equal(on_other, sent));
    EXPECT_EQ(fixture.ledger.snapshot().at(kCpu).tag(Tag::staging).now, 1_MiB);
    transfers.release_staging();
    EXPECT_EQ(fixture.ledger.snapshot().at(kCpu).tag(Tag::staging).now, Bytes{});
    ASSERT_TRUE(transfers.copy({kOther, on_other}, {kCard, on_card})) << "it is taken anew";
}

TEST(Transfers, AreRefusedWhereTheHostHasNoRoomForStaging) {
    Fixture fixture;
    fixture.ledger.set_limit(kCpu, 63_KiB);
    Transfers transfers(fixture.machine.devices(), fixture.ledger);
    const auto here = fixture.card().allocate(1_MiB);
    const auto there = fixture.other().allocate(1_MiB);
    const auto copied =
        transfers.copy({kOther, {there->data(), 1 << 20}}, {kCard, {here->data(), 1 << 20}});
    ASSERT_FALSE(copied.has_value());
    EXPECT_EQ(copied.error().code, Code::does_not_fit);
    EXPECT_TRUE(copied.error().shortfall.contains(kCpu));
}

TEST(Transfers, NameADeviceThatIsNotThere) {
    Fixture fixture;
    Transfers transfers(fixture.machine.devices(), fixture.ledger);
    std::byte byte{};
    const auto copied = transfers.copy({kCpu, {&byte, 1}}, {{DeviceKind::xpu, 3}, {&byte, 1}});
    ASSERT_FALSE(copied.has_value());
    EXPECT_EQ(copied.error().code, Code::not_available);
    EXPECT_NE(copied.error().why.find("xpu:3"), std::string::npos);
}

TEST(SimMachine, OrderHoldsAlsoWhereCopiesTakeNoTime) {
    // copies within a device are done at once: only the order of the streams keeps them apart
    Fixture fixture;
    const auto memory = fixture.card().allocate(1_MiB);
    const auto at = [&](std::size_t place) { return Target{kCard, {memory->data() + place, 64}}; };
    const auto from = [&](std::size_t place) {
        return Source{kCard, {memory->data() + place, 64}};
    };
    const std::vector<std::byte> sent(64, std::byte{5});
    std::vector<std::byte> back(64);
    const auto first = fixture.card().open_stream();
    const auto second = fixture.card().open_stream();
    ASSERT_TRUE((*first)->copy(at(0), {kCpu, sent}));
    const auto arrived = (*first)->record();
    ASSERT_TRUE((*second)->wait(*arrived));
    ASSERT_TRUE((*second)->copy(at(64), from(0)));
    const auto moved = (*second)->record();
    ASSERT_TRUE((*first)->wait(*moved));
    ASSERT_TRUE((*first)->copy(at(128), from(64)));
    ASSERT_TRUE((*first)->copy({kCpu, back}, from(128)));
    ASSERT_TRUE((*first)->finish());
    EXPECT_EQ(back, sent);
}

TEST(SimMachine, AFailureReachesWhoWaitsForItAndNobodyElse) {
    Fixture fixture;
    const auto memory = fixture.card().allocate(10_MiB);
    const Target to{kCard, {memory->data(), 10'000'000}};
    const auto failing = fixture.card().open_stream();
    const auto early = fixture.card().open_stream();
    const auto late = fixture.card().open_stream();
    ASSERT_TRUE((*failing)->copy(to, {kCpu, fixture.bytes}));
    const auto before = (*failing)->record();
    fixture.machine.inject(kCard, {.copy = 1});
    static_cast<void>((*failing)->copy(to, {kCpu, fixture.bytes}));
    const auto after = (*failing)->record();
    ASSERT_TRUE((*early)->wait(*before));
    ASSERT_TRUE((*late)->wait(*after));
    EXPECT_FALSE(after->wait());
    EXPECT_TRUE(before->wait()) << "it was reached before";
    EXPECT_TRUE((*early)->finish());
    EXPECT_EQ((*late)->finish().error().code, Code::io);
}

TEST(Transfers, BeginAnewAfterAFailure) {
    Fixture fixture;
    Transfers transfers(fixture.machine.devices(), fixture.ledger);
    const auto here = fixture.card().allocate(1_MiB);
    const auto there = fixture.other().allocate(1_MiB);
    const std::span<std::byte> on_card{here->data(), 1 << 20};
    const std::span<std::byte> on_other{there->data(), 1 << 20};
    fixture.machine.inject(kOther, {.copy = 1});
    EXPECT_FALSE(transfers.copy({kOther, on_other}, {kCard, on_card}));
    EXPECT_TRUE(transfers.copy({kOther, on_other}, {kCard, on_card}));
    EXPECT_EQ(transfers.counts().asked_for, (TransferCount{1, 1_MiB}));
    EXPECT_FALSE(transfers.copy({kOther, on_other}, {kCard, on_card.first(5)}));
}

TEST(VirtualTime, PassesOnlyWhenAllParticipantsWait) {
    VirtualTime time;
    std::vector<std::pair<int, std::int64_t>> woken;
    std::mutex mutex;
    const auto note = [&](int who) {
        const std::scoped_lock lock(mutex);
        woken.emplace_back(who, time.now().count());
    };
    {
        std::vector<std::unique_ptr<VirtualTime::Participant>> participants;
        for (int i = 0; i < 3; ++i)
            participants.push_back(std::make_unique<VirtualTime::Participant>(time));
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i)
            threads.emplace_back(
                [&, i, mine = std::move(participants[static_cast<std::size_t>(i)])] {
                    for (int step = 1; step <= 4; ++step) {
                        time.wait_until(Nanoseconds{step * 10 * (i + 1)});
                        note(i);
                    }
                });
    }
    ASSERT_EQ(woken.size(), 12U);
    EXPECT_EQ(time.now(), Nanoseconds{120});
    for (std::size_t i = 1; i < woken.size(); ++i)
        EXPECT_GE(woken[i].second, woken[i - 1].second) << "nobody is late";
}

TEST(VirtualTime, GoesOnWhileAParticipantWaitsForSomethingElse) {
    VirtualTime time;
    const VirtualTime::Participant self(time);
    const VirtualTime::Participant idle(time);
    {
        const VirtualTime::Blocked blocked(time);
        time.wait_until(Nanoseconds{5});
    }
    EXPECT_EQ(time.now(), Nanoseconds{5});
}

}  // namespace
}  // namespace ballast::device::sim
