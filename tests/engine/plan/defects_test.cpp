// Faults of ComfyUI-MultiGPU 2.6.3 in reading, placing and planning, by their numbers in our list
// of them; none of them is ours.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ballast/engine/plan/planner.hpp"
#include "tests/engine/plan/models.hpp"

namespace ballast::plan {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Placement placed(const std::string& text, const AllocationContext& context,
                 const std::vector<PlacementBlock>& blocks) {
    return place(
        {.blocks = blocks, .policy = policy_of(text, context), .devices = context.devices});
}

std::string refusal(const std::string& text, const AllocationContext& context = system_a()) {
    const auto policy = parse_allocation(text, context);
    return policy ? "" : to_string(policy.error());
}

/// Two cards and a host, with room for so much on the second card.
PlanMachine two_cards(Bytes second = gib(24)) {
    return {.devices = {{.id = kCpu, .total = gib(64), .capacity = gib(64)},
                        {.id = cuda(0), .total = gib(24), .capacity = gib(24)},
                        {.id = cuda(1), .total = gib(24), .capacity = second}},
            .links = {{.from = kCpu, .to = cuda(0)}, {.from = cuda(1), .to = cuda(0)}}};
}

Plan planned(const std::string& text, const std::vector<PlacementBlock>& blocks,
             const PlanMachine& machine = two_cards()) {
    PlanRequest request{.policy = policy_of(text, system_a()), .machine = machine};
    for (const auto& block : blocks)
        request.blocks.push_back({.name = block.name, .bytes = block.bytes});
    return make_plan(request);
}

BlockTensor tensor(std::string name, ElementType type, std::uint64_t elements) {
    return {.name = std::move(name),
            .type = type,
            .shape = {static_cast<std::int64_t>(elements)},
            .bytes = bytes_of(type, elements).value()};
}

TEST(Defects, D01AmountsAreWholeBytesNotFractionsOfFourDecimals) {
    const auto made = placed("cpu,20mb;cuda:0,*", system_w(), equal_blocks(8, mib(10)));
    EXPECT_EQ(made.per_device.at(kCpu), mib(20)) << "20 MiB of 512 GiB would be 0.0000";
    EXPECT_EQ(placed("cuda:0,8gb;cpu,*", system_a(), model_1()).per_device.at(cuda(0)), gib(8))
        << "8/24 would be 0.3333, a block less";
}

TEST(Defects, D02HeadFirstInTypedOrderWithTheComputeDeviceNothingSpecial) {
    const auto made = placed("cuda:1,2gb;cuda:0,2gb;cpu,*#cuda:0", system_a(), model_1());
    EXPECT_EQ(named(model_1(), made.homes), (Homes{{"cuda:1", words("B0 B1")},
                                                   {"cuda:0", words("B2 B3")},
                                                   {"cpu", words("B4 B5 B6 B7 B8 B9")}}));
}

TEST(Defects, D03WhatFitsNowhereGoesToTheRemainderNotToTheComputeDevice) {
    const auto made = placed("cuda:0,0.1;cuda:1,0.05#cuda:1", system_a(), model_1());
    EXPECT_EQ(made.per_device.at(cuda(1)), gib(1));
    EXPECT_EQ(made.per_device.at(kCpu), gib(7));
    EXPECT_FALSE(
        placed("cuda:0,3gb;cpu,*#cuda:1", system_b(), model_1()).per_device.contains(cuda(1)))
        << "the compute device was never listed";
}

TEST(Defects, D03TheRestMarkerTakesWhatIsLeftWhateverItsDeviceHas) {
    const auto context = machine({{cuda(0), gib(24)}, {cuda(1), gib(4)}}, gib(64));
    const auto made = placed("cuda:0,2gb;cuda:1,*#cuda:0", context, model_1());
    EXPECT_EQ(made.per_device, (std::map<DeviceId, Bytes>{{cuda(0), gib(2)}, {cuda(1), gib(8)}}));
}

TEST(Defects, D03SharesLeaveNothingOver) {
    for (const std::size_t blocks : {7U, 10U, 11U, 23U}) {
        const auto made =
            placed("cuda:1,50%;cpu,50%#cuda:0", system_a(), equal_blocks(blocks, gib(1)));
        EXPECT_FALSE(made.per_device.contains(cuda(0))) << "the compute device was never listed";
        const auto half = gib(blocks).count() / 2;
        EXPECT_LE(made.per_device.at(cuda(1)).count(), half + gib(1).count() / 2);
        EXPECT_GE(made.per_device.at(cuda(1)).count(), half - gib(1).count() / 2);
    }
}

TEST(Defects, D04TheModeIsThatOfTheAmountsNotOfLettersInDeviceNames) {
    const auto context = machine({{{DeviceKind::mps, 0}, gib(32)},
                                  {{DeviceKind::mlu, 0}, gib(8)},
                                  {{DeviceKind::directml, 0}, gib(8)}},
                                 gib(32));
    EXPECT_EQ(policy_of("mps,0.5;cpu,0.5", context).mode, Mode::fraction);
    EXPECT_EQ(policy_of("mlu:0,50%;cpu,50%", context).mode, Mode::ratio);
    EXPECT_EQ(policy_of("directml:0,0.5;cpu,0.5", context).mode, Mode::fraction);
}

TEST(Defects, D05NumbersAreReadWholeOrRefused) {
    for (const auto& amount : {"1e3gb", "2,5gb", "5gbxyz"})
        EXPECT_THAT(refusal(std::string("cuda:0,") + amount + ";cpu,*"), HasSubstr("column 8"));
    EXPECT_EQ(policy_of("cpu,2tb;cuda:0,*", system_a()).entries[0].bytes, gib(2048));
    EXPECT_EQ(policy_of("cpu,.5gb;cuda:0,*", system_a()).entries[0].bytes, mib(512));
}

TEST(Defects, D06SharesAndFractionsTakeARestMarker) {
    EXPECT_EQ(placed("cuda:0,50%;cpu,*", system_a(), model_1()).per_device.at(cuda(0)), gib(5));
    EXPECT_EQ(placed("cuda:0,0.1;cpu,*", system_a(), model_1()).per_device.at(cuda(0)), gib(2));
}

TEST(Defects, D07VirtualMemoryBesideEntriesAsksForNothingElse) {
    const auto plain = planned("cuda:0,2gb;cuda:1,3gb;cpu,*#cuda:0", model_1());
    auto both = planned("cuda:0,2gb;cuda:1,3gb;cpu,*#cuda:0;4.0;cpu", model_1());
    EXPECT_THAT(both.warnings, Contains(HasSubstr("4.00 GiB to free is ignored")));
    both.warnings = plain.warnings;
    EXPECT_EQ(both, plain);
}

TEST(Defects, D07DonorsAreAskedWhetherTheyHaveRoom) {
    const auto plan = planned("cuda:0,2gb;cuda:1,3gb;cpu,*#cuda:0", model_1(), two_cards(gib(2)));
    EXPECT_FALSE(plan.fits);
    EXPECT_EQ(plan.shortfall,
              (std::map<DeviceId, Shortfall>{{cuda(1), {gib(3).count(), gib(2).count()}}}));
}

TEST(Defects, D21ADeviceCalledNoneIsTheDefault) {
    for (const auto& text : {"cuda:0,2gb;cpu,*#None", "cuda:0,2gb;cpu,*#", "#None;4.0;cpu"})
        EXPECT_EQ(policy_of(text, system_a()).compute, cuda(0));
}

TEST(Defects, D22DevicesWithoutANumberStandBesideNumberedOnes) {
    const auto context = machine({{cuda(0), gib(8)}, {{DeviceKind::mps, 0}, gib(8)}}, gib(32));
    const auto made = placed("#cuda:0;9.0;mps,cpu", context, model_1());
    EXPECT_EQ(made.per_device.at({DeviceKind::mps, 0}), gib(8));
    EXPECT_EQ(made.per_device.at(kCpu), gib(1));
}

TEST(Defects, D23BlocksAreOursWhateverTheNumberOfTheirParts) {
    std::vector<BlockTensor> tensors;
    for (std::uint64_t parts = 1; parts <= 7; ++parts)
        for (std::uint64_t part = 0; part < parts; ++part)
            tensors.push_back(
                tensor("layer" + std::to_string(8 - parts) + ".part" + std::to_string(part),
                       part % 2 == 0 ? ElementType::f16 : ElementType::u8, 100 * parts + part));
    const auto table = group_into_blocks(tensors);
    ASSERT_EQ(table.blocks().size(), 7U);
    for (std::uint64_t parts = 1; parts <= 7; ++parts) {
        const auto& block = table.blocks()[parts - 1];
        EXPECT_EQ(block.name, "layer" + std::to_string(8 - parts)) << "in the order of the model";
        EXPECT_EQ(block.tensors.size(), parts);
        Bytes sum;
        for (const auto& each : block.tensors) sum += each.bytes;
        EXPECT_EQ(block.bytes, sum);
    }
}

TEST(Defects, D24VirtualMemoryCountsEveryByteOfTheModel) {
    auto blocks = model_1();
    blocks.push_back({.name = "<loose>", .bytes = gib(2), .is_loose = true});
    const auto made = placed("#cuda:0;4.0;cpu", system_a(), blocks);
    EXPECT_EQ(made.per_device.at(cuda(0)), gib(8)) << "12 GiB less 4";
}

TEST(Defects, D25APackedBlockIsAsLargeAsItIsStored) {
    constexpr std::uint64_t kElements = std::uint64_t{1} << 24U;
    const auto table = group_into_blocks({tensor("packed.weight", ElementType::f4, kElements),
                                          tensor("plain.weight", ElementType::f16, kElements / 8)});
    EXPECT_EQ(table.blocks()[0].bytes, mib(8));
    const auto plan = make_plan({.blocks = plan_blocks(table),
                                 .policy = policy_of("cpu,*#cuda:0", system_a()),
                                 .machine = two_cards()});
    EXPECT_EQ(plan.ring, mib(16)) << "two of the largest, which is four times that in fp16";
    EXPECT_EQ(plan.per_device.at(kCpu), mib(12));
}

TEST(Defects, D27AnUnknownDeviceIsRefusedNotTakenForTheCpu) {
    EXPECT_THAT(refusal("gpu0,2gb;cpu,*"),
                HasSubstr("unknown device; present: cuda:0, cuda:1, cpu"));
    EXPECT_THAT(refusal("cuda:0,2gb;cpu,*#gpu0"), HasSubstr("unknown device"));
}

TEST(Defects, D31SpreadingASmallModelIsAllowedWithAWarning) {
    const auto small = equal_blocks(7, mib(20));
    for (const auto* text : {"cuda:0,100mb;cpu,*#cuda:0", "#cuda:0;0.039;cpu"}) {
        const auto plan = planned(text, small);
        EXPECT_TRUE(plan.fits);
        EXPECT_EQ(plan.per_device.at(kCpu), mib(40)) << text;
        EXPECT_THAT(plan.warnings, Contains("spreading a model of 140.00 MiB gains little: 40.00 "
                                            "MiB of it travel at each use"));
    }
}

TEST(Defects, D31WhoeverSpreadsNothingOrMuchIsNotWarned) {
    EXPECT_THAT(planned("#cuda:0", equal_blocks(7, mib(20))).warnings, IsEmpty());
    EXPECT_THAT(planned("cuda:0,1gb;cpu,*#cuda:0", equal_blocks(7, mib(20))).warnings, IsEmpty())
        << "all of it stays";
    EXPECT_THAT(planned("cuda:0,100mb;cpu,*#cuda:0", equal_blocks(8, mib(32))).warnings, IsEmpty())
        << "256 MiB";
}

TEST(Defects, D32TheComputeDeviceIsWhatWasSaidEvenWithoutAnyBlock) {
    const auto policy = policy_of("cpu,*#cuda:1", system_a());
    EXPECT_EQ(policy.compute, cuda(1));
    const auto made = placed("cpu,*#cuda:1", system_a(), model_1());
    EXPECT_EQ(made.per_device, (std::map<DeviceId, Bytes>{{kCpu, gib(10)}}));
}

}  // namespace
}  // namespace ballast::plan
