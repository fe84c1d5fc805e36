#include "ballast/engine/plan/block_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "ballast/engine/plan/plan.hpp"

namespace ballast::plan {
namespace {

using namespace ballast::literals;

BlockTensor tensor(std::string name, std::uint64_t bytes = 4) {
    return {.name = std::move(name),
            .type = ElementType::f16,
            .shape = {2},
            .offset = 0,
            .bytes = Bytes{bytes}};
}

std::vector<std::string> names(const BlockTable& table) {
    std::vector<std::string> found;
    for (const auto& block : table.blocks()) found.push_back(block.name);
    return found;
}

using Names = std::vector<std::string>;

TEST(BlockTable, ALeafHoldsItsWeightAndBias) {
    const auto table = group_into_blocks(
        {tensor("a.conv.weight", 8), tensor("a.conv.bias", 2), tensor("a.norm.weight")});
    EXPECT_EQ(names(table), (Names{"a.conv", "a.norm"}));
    EXPECT_EQ(table.blocks()[0].tensors.size(), 2U);
}

TEST(BlockTable, CountsTheBytesOfItsTensorsAsStored) {
    const auto table = group_into_blocks(
        {tensor("a.weight", 65), tensor("a.bias", 2), tensor("b.weight", 64), tensor("c.bias", 0)});
    EXPECT_EQ(table.blocks()[0].bytes, 67_B);
    EXPECT_EQ(table.blocks()[1].bytes, 64_B);
    EXPECT_EQ(table.blocks()[2].bytes, 0_B);
    EXPECT_EQ(table.bytes(), 131_B);
}

TEST(BlockTable, ParametersOfInnerModulesAndOfTheRootAreLoose) {
    const auto table = group_into_blocks(
        {tensor("pos_embed"), tensor("block.scale"), tensor("block.attn.weight")});
    EXPECT_EQ(names(table), (Names{"block.attn", "<loose>"}));
    EXPECT_EQ(table.blocks()[1].tensors.size(), 2U);
}

TEST(BlockTable, KeepsModelOrderEvenWhenALeafIsInterrupted) {
    const auto table =
        group_into_blocks({tensor("b.weight"), tensor("a.weight"), tensor("b.bias")});
    EXPECT_EQ(names(table), (Names{"b", "a"}));
    EXPECT_EQ(table.blocks()[0].tensors.size(), 2U);
}

TEST(BlockTable, FindsBlocksByName) {
    const auto table = group_into_blocks({tensor("z.weight"), tensor("a.weight")});
    EXPECT_EQ(table.find("a")->index, 1U);
    EXPECT_EQ(table.find("z")->index, 0U);
    EXPECT_FALSE(table.find("m").has_value());
}

TEST(BlockTable, NamesOfAnyDepthNeedNoStack) {
    std::string deep;
    for (int level = 0; level < 5000; ++level) deep += "m.";
    const auto table = group_into_blocks({tensor(deep + "weight"), tensor("m.m.scale")});
    ASSERT_EQ(table.blocks().size(), 2U);
    EXPECT_EQ(table.blocks()[0].name + ".", deep);
    EXPECT_EQ(table.blocks()[1].name, kLooseBlock);
}

TEST(BlockTable, OfNothingIsEmpty) {
    const auto table = group_into_blocks({});
    EXPECT_TRUE(table.blocks().empty());
    EXPECT_EQ(table.bytes(), 0_B);
}

TEST(ResidentPlan, PutsEveryBlockOnTheComputeDevice) {
    const auto table = group_into_blocks({tensor("a.weight", 128), tensor("b.weight", 4)});
    const auto plan = resident_plan(table, kCpu, 132_B);
    EXPECT_TRUE(plan.fits);
    EXPECT_EQ(plan.homes, (std::vector<DeviceId>{kCpu, kCpu}));
    EXPECT_EQ(plan.per_device.at(kCpu), 132_B);
    EXPECT_EQ(plan, resident_plan(table, kCpu, 132_B));
}

TEST(ResidentPlan, SaysWhatIsMissing) {
    const auto table = group_into_blocks({tensor("a.weight", 8)});
    const auto plan = resident_plan(table, kCpu, 6_B);
    EXPECT_FALSE(plan.fits);
    EXPECT_EQ(plan.shortfall.at(kCpu).needed, 8U);
    EXPECT_EQ(plan.shortfall.at(kCpu).available, 6U);
    EXPECT_EQ(plan.shortfall.at(kCpu).missing(), 2U);
}

TEST(PlanDigest, CoversBlocksAndHomes) {
    const auto table = group_into_blocks({tensor("a.weight", 8)});
    const auto other = group_into_blocks({tensor("a.weight", 9)});
    const auto plan = resident_plan(table, kCpu, std::nullopt);
    EXPECT_EQ(digest(table, plan), digest(table, plan));
    EXPECT_EQ(digest(table, plan).size(), 16U);
    EXPECT_NE(digest(table, plan), digest(other, plan));
    EXPECT_NE(digest(table, plan),
              digest(table, resident_plan(table, {DeviceKind::cuda, 0}, std::nullopt)));
}

}  // namespace
}  // namespace ballast::plan
