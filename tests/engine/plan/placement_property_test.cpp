// What holds for every model, machine and text. A failing case names its seed and its inputs.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/engine/plan/random_scenes.hpp"

namespace ballast::plan {
namespace {

using namespace testing;
using ballast::testing::Random;

Bytes on(const Placement& made, DeviceId device) {
    const auto found = made.per_device.find(device);
    return found == made.per_device.end() ? Bytes{} : found->second;
}

WideBytes pinned_sum(const Scene& scene, const Placement& made) {
    WideBytes sum = 0;
    for (std::size_t i = 0; i < made.pinned.size(); ++i)
        if (made.pinned[i] != Pinned::no) sum += scene.request.blocks[i].bytes.count();
    return sum;
}

bool is_share_mode(const Policy& policy) { return policy.mode == Mode::ratio && !policy.rest; }

TEST(PlacementProperty, EveryBlockIsOnAListedDeviceTheRemainderOrTheComputeDevice) {
    for_many_scenes([](const Scene& scene, const Placement& made, Random&) {
        const auto& policy = scene.request.policy;
        std::set<DeviceId> known{policy.compute};
        for (const auto& entry : policy.entries) known.insert(entry.device);
        for (const auto donor : policy.donors) known.insert(donor);
        if (made.remainder) known.insert(*made.remainder);
        ASSERT_EQ(made.homes.size(), scene.request.blocks.size());
        WideBytes sum = 0;
        WideBytes total = 0;
        for (const auto& [device, bytes] : made.per_device) sum += bytes.count();
        for (const auto& block : scene.request.blocks) total += block.bytes.count();
        EXPECT_TRUE(sum == total);
        for (std::size_t i = 0; i < made.homes.size(); ++i) {
            EXPECT_TRUE(known.contains(made.homes[i])) << to_string(made.homes[i]);
            if (made.pinned[i] != Pinned::no) {
                EXPECT_EQ(made.homes[i], policy.compute);
            }
        }
    });
}

TEST(PlacementProperty, NoCeilingIsExceededAndAnUnlistedComputeDeviceHoldsPinnedBlocksOnly) {
    for_many_scenes([](const Scene& scene, const Placement& made, Random&) {
        const auto& policy = scene.request.policy;
        if (is_share_mode(policy)) return;
        const auto pinned = pinned_sum(scene, made);
        for (const auto& [device, quota] : made.quotas) {
            if (device == made.remainder) continue;
            // the quota of the compute device is what pinned blocks left of it
            const auto most = device == policy.compute ? pinned + quota.count() : quota.count();
            EXPECT_TRUE(on(made, device).count() <= most) << to_string(device);
        }
        for (const auto& entry : policy.entries)
            if (policy.mode == Mode::bytes && entry.device != made.remainder &&
                entry.device != policy.compute) {
                EXPECT_LE(on(made, entry.device), entry.bytes);
            }
        if (!made.quotas.contains(policy.compute) && made.remainder != policy.compute) {
            EXPECT_TRUE(on(made, policy.compute).count() == pinned);
        }
    });
}

TEST(PlacementProperty, TheOrderOfDevicesOnTheMachineDoesNotMatter) {
    for_many_scenes([](const Scene& scene, const Placement& made, Random& random) {
        auto request = scene.request;
        random.shuffle(request.devices);
        EXPECT_EQ(place(request), made);
    });
}

TEST(PlacementProperty, ACanonicalTextMeansTheSame) {
    for_many_scenes([](const Scene& scene, const Placement& made, Random&) {
        const auto text = canonical(scene.request.policy);
        const auto again = parse_allocation(text, scene.context);
        ASSERT_TRUE(again.has_value()) << text << ": " << to_string(again.error());
        EXPECT_EQ(*again, scene.request.policy) << text;
        EXPECT_EQ(canonical(*again), text);
        auto request = scene.request;
        request.policy = *again;
        EXPECT_EQ(place(request), made) << text;
    });
}

TEST(PlacementProperty, BlanksCaseAndEmptyEntriesDoNotMatter) {
    for_many_scenes([](const Scene& scene, const Placement&, Random& random) {
        std::string spelled;
        const auto hash = scene.text.find('#');
        for (std::size_t i = 0; i < scene.text.size(); ++i) {
            const char c = scene.text[i];
            const bool is_separator = c == ';' || c == ',' || c == '#' || c == '*' || c == '%';
            if (is_separator) spelled += random.text(random.below(3), " \t");
            spelled += random.once_in(2) && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
            if (c == ';' && i < hash && random.once_in(3)) spelled += " ;";
            if (is_separator) spelled += random.text(random.below(3), " \t");
        }
        const auto policy = parse_allocation(spelled, scene.context);
        ASSERT_TRUE(policy.has_value()) << spelled << ": " << to_string(policy.error());
        EXPECT_EQ(*policy, scene.request.policy) << spelled;
    });
}

TEST(PlacementProperty, MoreVirtualMemoryNeverMeansLessOnTheDonors) {
    for_many_scenes([](const Scene& scene, const Placement&, Random& random) {
        auto request = scene.request;
        if (request.policy.mode != Mode::virtual_vram) return;
        const auto donated = [&request](Bytes amount) {
            request.policy.virtual_bytes = amount;
            const auto made = place(request);
            WideBytes sum = 0;
            for (const auto& [device, bytes] : made.per_device)
                if (device != request.policy.compute) sum += bytes.count();
            return sum;
        };
        WideBytes before = 0;
        Bytes amount{random.below(1 << 20)};
        for (int step = 0; step < 20; ++step) {
            const auto now = donated(amount);
            EXPECT_TRUE(now >= before) << amount.count();
            before = now;
            amount = Bytes{amount.count() * 3 + random.below(100)};
        }
        request.policy.virtual_bytes = Bytes{~std::uint64_t{0}};
        const auto made = place(request);
        for (std::size_t i = 0; i < made.homes.size(); ++i)
            if (!request.blocks[i].bytes.is_zero()) {
                EXPECT_EQ(made.homes[i] == request.policy.compute, made.pinned[i] != Pinned::no);
            }
    });
}

TEST(PlacementProperty, SharesAreContiguousAndWithinHalfABlock) {
    for_many_scenes([](const Scene& scene, const Placement& made, Random&) {
        const auto& policy = scene.request.policy;
        if (!is_share_mode(policy)) return;
        std::size_t at = 0;
        std::map<DeviceId, WideBytes> held;
        WideBytes largest = 0;
        for (std::size_t i = 0; i < made.homes.size(); ++i) {
            if (made.pinned[i] != Pinned::no) continue;
            while (at < policy.entries.size() && policy.entries[at].device != made.homes[i]) ++at;
            // a model of no bytes has no shares
            EXPECT_TRUE(at < policy.entries.size() || scene.request.blocks[i].bytes.is_zero());
            held[made.homes[i]] += scene.request.blocks[i].bytes.count();
            largest = std::max<WideBytes>(largest, scene.request.blocks[i].bytes.count());
        }
        for (const auto& [device, quota] : made.quotas) {
            // either boundary is off by at most half a block, and both are rounded
            const auto bytes = held[device];
            EXPECT_TRUE(bytes <= quota.count() + largest + 2) << to_string(device);
            EXPECT_TRUE(bytes + largest + 2 >= quota.count()) << to_string(device);
        }
    });
}

TEST(PlacementProperty, ARestMarkerOnTheComputeDeviceIsOrdinaryLoading) {
    for_many_scenes([](const Scene& scene, const Placement&, Random&) {
        auto request = scene.request;
        const auto compute = to_string(request.policy.compute);
        request.policy = policy_of(compute + ",*#" + compute, scene.context);
        const auto marked = place(request);
        request.policy = policy_of("#" + compute, scene.context);
        EXPECT_EQ(marked.homes, place(request).homes);
        EXPECT_EQ(marked.homes, std::vector(request.blocks.size(), request.policy.compute));
    });
}

TEST(PlacementProperty, WithEqualBlocksTheTypedOrderOnlyDecidesWhoGetsTheHead) {
    for_many_scenes([](const Scene& scene, const Placement&, Random& random) {
        auto request = scene.request;
        for (auto& block : request.blocks) block = {.name = "b", .bytes = request.blocks[0].bytes};
        if (is_share_mode(request.policy) || request.policy.mode == Mode::virtual_vram) return;
        const auto before = place(request);
        random.shuffle(request.policy.entries);
        const auto after = place(request);
        // as long as there are blocks for all quotas
        const auto is_full = [](const Placement& made) { return !made.left_over.is_zero(); };
        if (is_full(before)) {
            EXPECT_EQ(before.per_device, after.per_device);
        }
        EXPECT_EQ(before.quotas, after.quotas);
        EXPECT_EQ(before.left_over, after.left_over);
    });
}

TEST(PlacementProperty, TheOriginalsAlgorithmPlacesEveryBlockToo) {
    for_many_scenes([](const Scene& scene, const Placement&, Random&) {
        const auto made = place_like_distorch2({.blocks = scene.request.blocks,
                                                .role = scene.request.role,
                                                .text = scene.text,
                                                .machine = scene.context});
        if (!made) {
            EXPECT_FALSE(made.error().why.empty());
            return;
        }
        ASSERT_EQ(made->homes.size(), scene.request.blocks.size());
        for (std::size_t i = 0; i < made->homes.size(); ++i)
            if (made->orphans[i]) {
                EXPECT_EQ(made->homes[i], made->compute);
            }
    });
}

}  // namespace
}  // namespace ballast::plan
