#include "ballast/engine/weights/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/random.hpp"

namespace ballast::weights {
namespace {

plan::BlockTensor tensor(std::string name, ElementType type, std::int64_t count) {
    return {.name = std::move(name),
            .type = type,
            .shape = {count},
            .bytes = *bytes_of(type, static_cast<std::uint64_t>(count))};
}

TEST(Layout, KeepsABlocksTensorsTogether) {
    const auto table = plan::group_into_blocks({tensor("a.weight", ElementType::f16, 320),
                                                tensor("a.bias", ElementType::f16, 5),
                                                tensor("b.weight", ElementType::f16, 32)});
    const auto layout = lay_out(table, {kCpu, kCpu});
    EXPECT_EQ(layout.segments, (std::vector<Segment>{{kCpu, {0, 1}, 640 + 10 + 64}}));
    EXPECT_EQ(layout.blocks[1].place(0), 0U) << "cache lines divide it";
    EXPECT_EQ(layout.blocks[0].place(0), 64U);
    EXPECT_EQ(layout.blocks[0].place(1), 64U + 640U);
    EXPECT_EQ(layout.blocks[0].pieces.size(), 1U);
}

TEST(Layout, LeavesBlocksOfTheDiskWhereTheyAre) {
    const DeviceId disk{DeviceKind::disk, 0};
    const auto table = plan::group_into_blocks({tensor("a.weight", ElementType::u8, 100)});
    const auto layout = lay_out(table, {disk});
    EXPECT_TRUE(layout.segments.empty());
    EXPECT_EQ(layout.per_device.at(disk), Bytes{100});
}

TEST(Layout, CutsTheBlocksOfADeviceIntoSegmentsInModelOrder) {
    const auto table = plan::group_into_blocks(
        {tensor("a.weight", ElementType::u8, 60), tensor("b.weight", ElementType::u8, 50),
         tensor("c.weight", ElementType::u8, 70), tensor("d.weight", ElementType::u8, 200)});
    const DeviceId card{DeviceKind::cuda, 0};
    const auto layout = lay_out(table, {card, kCpu, card, card}, Bytes{100});
    EXPECT_EQ(layout.segments,
              (std::vector<Segment>{{card, {0, 2}, 130}, {kCpu, {1}, 50}, {card, {3}, 200}}));
    EXPECT_EQ(layout.blocks[3].segment, 2U);
    EXPECT_EQ(layout.blocks[3].place(0), 0U);
}

TEST(Layout, MovingTheEndOfAModelKeepsTheSegmentsBeforeIt) {
    std::vector<plan::BlockTensor> tensors;
    for (int i = 0; i < 20; ++i)
        tensors.push_back(tensor("b" + std::to_string(i) + ".weight", ElementType::u8, 10 + i));
    const auto table = plan::group_into_blocks(tensors);
    const DeviceId card{DeviceKind::cuda, 0};
    std::vector<DeviceId> homes(20, card);
    const auto whole = lay_out(table, homes, Bytes{50});
    for (std::size_t b = 13; b < homes.size(); ++b) homes[b] = kDisk;
    const auto part = lay_out(table, homes, Bytes{50});
    ASSERT_GE(part.segments.size(), 3U);
    for (std::size_t s = 0; s + 1 < part.segments.size(); ++s)
        EXPECT_EQ(part.segments[s], whole.segments[s]) << s;
}

TEST(LayoutProperty, LosesNoByteOverlapsNothingAndAlignsEveryElement) {
    ::ballast::testing::Random random(7);
    const std::vector<ElementType> types{ElementType::u8, ElementType::f16, ElementType::f32,
                                         ElementType::f64, ElementType::f8_e4m3};
    for (int round = 0; round < 300; ++round) {
        std::vector<plan::BlockTensor> tensors;
        for (int block = 0; block < 12; ++block)
            for (int part = 0; part < 1 + static_cast<int>(random.below(3)); ++part)
                tensors.push_back(tensor("b" + std::to_string(block) + ".t" + std::to_string(part),
                                         types[random.below(types.size())],
                                         static_cast<std::int64_t>(random.below(70))));
        const auto table = plan::group_into_blocks(tensors);
        std::vector<DeviceId> homes;
        for (std::size_t i = 0; i < table.blocks().size(); ++i)
            homes.push_back({DeviceKind::cuda, static_cast<int>(random.below(2))});
        const auto layout = lay_out(table, homes, Bytes{random.below(600)});

        std::map<std::size_t, std::vector<std::pair<std::size_t, std::size_t>>> used;
        for (std::size_t b = 0; b < homes.size(); ++b)
            for (std::size_t t = 0; t < table.blocks()[b].tensors.size(); ++t) {
                const auto& each = table.blocks()[b].tensors[t];
                const auto place = layout.blocks[b].place(t);
                const auto element = std::max(bits(each.type) / 8, 1U);
                if (!each.bytes.is_zero()) {
                    ASSERT_EQ(place % element, 0U) << each.name;
                    ASSERT_EQ(layout.blocks[b].tensors[t] % element, 0U) << each.name;
                }
                ASSERT_EQ(layout.segments[layout.blocks[b].segment].device, homes[b]);
                used[layout.blocks[b].segment].emplace_back(place, place + each.bytes.count());
            }
        for (auto& [segment, ranges] : used) {
            std::ranges::sort(ranges);
            std::size_t end = 0;
            for (const auto& [from, to] : ranges) {
                ASSERT_TRUE(from == end || from == to) << "a gap or an overlap in " << segment;
                end = std::max(end, to);
            }
            EXPECT_EQ(end, layout.segments.at(segment).size);
        }
    }
}

}  // namespace
}  // namespace ballast::weights
