// What holds for every machine: whichever of its devices are peers, copies arrive, and every byte
// is counted where it went.

#include "ballast/engine/device/transfers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ballast/engine/device/sim/sim_machine.hpp"
#include "tests/support/random.hpp"

namespace ballast::device {
namespace {

using ::ballast::testing::Random;
using Ends = std::pair<DeviceId, DeviceId>;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

DeviceId card(std::uint64_t index) { return {DeviceKind::cuda, static_cast<int>(index)}; }

/// Cards of which each ordered pair may be peers or not.
machine::MachineProfile random_profile(Random& random) {
    machine::MachineProfile profile;
    const auto cards = random.between(1, 4);
    for (std::uint64_t i = 0; i < cards; ++i) {
        profile.devices.push_back({.id = card(i)});
        for (std::uint64_t other = 0; other < cards; ++other)
            if (other != i && random.once_in(2))
                profile.links.push_back({.from = card(other),
                                         .to = card(i),
                                         .gbps = static_cast<double>(random.between(1, 60)),
                                         .peer = true});
    }
    return profile;
}

struct Machine {
    explicit Machine(Random& random) : profile(random_profile(random)) {
        for (const auto& device : profile.devices) devices.push_back(device.id);
    }

    [[nodiscard]] bool is_peer(DeviceId from, DeviceId to) const {
        return std::ranges::any_of(profile.links, [&](const auto& link) {
            return link.from == from && link.to == to && link.peer;
        });
    }

    machine::MachineProfile profile;
    std::vector<DeviceId> devices{kCpu};
    Ledger ledger{};
    sim::SimMachine simulated{profile, std::make_shared<sim::VirtualTime>()};
    Transfers transfers{simulated.devices(), ledger};
};

/// The counts of bytes alone: how many pieces a staged copy takes is its own affair.
std::map<Ends, Bytes> bytes_of(const TransferCounts& counts) {
    std::map<Ends, Bytes> bytes;
    for (const auto& [ends, count] : counts.ways) bytes[ends] = count.bytes;
    return bytes;
}

TEST(TransfersProperty, BytesArriveOverAnyRouteAndAreCountedOnEachWay) {
    const std::vector<std::uint64_t> sizes{1,        63,           4096,     8 * kMiB - 1,
                                           8 * kMiB, 8 * kMiB + 1, 17 * kMiB};
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        Machine machine(random);
        const auto& devices = machine.devices;
        const auto size = random.one_of(sizes);
        std::vector<std::byte> sent(size);
        for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<std::byte>((i + seed) % 253);
        std::vector<std::byte> received(size);
        std::map<DeviceId, Memory> memory;
        for (const auto id : devices) {
            auto made = machine.simulated.devices().find(id)->allocate(Bytes{size});
            ASSERT_TRUE(made.has_value());
            memory.emplace(id, *std::move(made));
        }

        std::map<Ends, Bytes> expected;
        TransferCount staged;
        TransferCount asked_for;
        const auto copy = [&](DeviceId from, std::span<const std::byte> source, DeviceId to,
                              std::span<std::byte> target) {
            ASSERT_TRUE(machine.transfers.copy({to, target}, {from, source}));
            ++asked_for.copies;
            asked_for.bytes += Bytes{size};
            if (from == kCpu || to == kCpu || machine.is_peer(from, to)) {
                expected[{from, to}] += Bytes{size};
                return;
            }
            expected[{from, kCpu}] += Bytes{size};
            expected[{kCpu, to}] += Bytes{size};
            ++staged.copies;
            staged.bytes += Bytes{size};
        };
        auto at = devices[random.below(devices.size())];
        const auto held = [&](DeviceId id) {
            return std::span<std::byte>{memory.at(id).data(), size};
        };
        copy(kCpu, sent, at, held(at));
        for (int hop = 0; hop < 6; ++hop) {
            const auto next = devices[random.below(devices.size())];
            if (next == at) continue;
            copy(at, held(at), next, held(next));
            at = next;
        }
        copy(at, held(at), kCpu, received);

        EXPECT_TRUE(received == sent);
        const auto counts = machine.transfers.counts();
        EXPECT_EQ(bytes_of(counts), expected);
        EXPECT_EQ(counts.staged, staged);
        EXPECT_EQ(counts.asked_for, asked_for);
        // the links of the machine saw the same
        std::map<Ends, TransferCount> seen;
        for (const auto& link : machine.simulated.link_use())
            seen[{link.from, link.to}] = {link.copies, link.bytes};
        auto ways = counts.ways;
        ways.erase({kCpu, kCpu});
        EXPECT_EQ(ways, seen);
    }
}

// Faults of ComfyUI-MultiGPU 2.6.3, by their numbers in our list of them; none of them is ours.

TEST(Defects, D33ACopyIsDirectIfTheDestinationReachesTheSourceNotTheOtherWayRound) {
    machine::MachineProfile profile;
    profile.devices = {{.id = card(0)}, {.id = card(1)}};
    profile.links = {{.from = card(1), .to = card(0), .gbps = 20, .peer = true}};
    Ledger ledger;
    const sim::SimMachine machine(profile, std::make_shared<sim::VirtualTime>());
    auto& reader = *machine.devices().find(card(0));
    auto& other = *machine.devices().find(card(1));
    EXPECT_TRUE(reader.reaches(card(1)));
    EXPECT_FALSE(other.reaches(card(0))) << "each direction is a question of its own";

    Transfers transfers(machine.devices(), ledger);
    const auto here = reader.allocate(Bytes{100});
    const auto there = other.allocate(Bytes{100});
    ASSERT_TRUE(here.has_value() && there.has_value());
    const std::span<std::byte> on_reader{here->data(), 100};
    const std::span<std::byte> on_other{there->data(), 100};
    ASSERT_TRUE(transfers.copy({card(0), on_reader}, {card(1), on_other}));
    EXPECT_EQ(transfers.counts().staged.copies, 0U);
    ASSERT_TRUE(transfers.copy({card(1), on_other}, {card(0), on_reader}));
    EXPECT_EQ(transfers.counts().staged.copies, 1U) << "staged, and counted";
}

}  // namespace
}  // namespace ballast::device
