// Faults of ComfyUI-MultiGPU 2.6.3 in reading and placing, by their numbers in our list of them;
// none of them is ours.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/plan/models.hpp"

namespace ballast::plan {
namespace {

using namespace testing;
using ::testing::HasSubstr;

Placement placed(const std::string& text, const AllocationContext& context,
                 const std::vector<PlacementBlock>& blocks) {
    return place(
        {.blocks = blocks, .policy = policy_of(text, context), .devices = context.devices});
}

std::string refusal(const std::string& text, const AllocationContext& context = system_a()) {
    const auto policy = parse_allocation(text, context);
    return policy ? "" : to_string(policy.error());
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

TEST(Defects, D24VirtualMemoryCountsEveryByteOfTheModel) {
    auto blocks = model_1();
    blocks.push_back({.name = "<loose>", .bytes = gib(2), .is_loose = true});
    const auto made = placed("#cuda:0;4.0;cpu", system_a(), blocks);
    EXPECT_EQ(made.per_device.at(cuda(0)), gib(8)) << "12 GiB less 4";
}

TEST(Defects, D27AnUnknownDeviceIsRefusedNotTakenForTheCpu) {
    EXPECT_THAT(refusal("gpu0,2gb;cpu,*"),
                HasSubstr("unknown device; present: cuda:0, cuda:1, cpu"));
    EXPECT_THAT(refusal("cuda:0,2gb;cpu,*#gpu0"), HasSubstr("unknown device"));
}

TEST(Defects, D32TheComputeDeviceIsWhatWasSaidEvenWithoutAnyBlock) {
    const auto policy = policy_of("cpu,*#cuda:1", system_a());
    EXPECT_EQ(policy.compute, cuda(1));
    const auto made = placed("cpu,*#cuda:1", system_a(), model_1());
    EXPECT_EQ(made.per_device, (std::map<DeviceId, Bytes>{{kCpu, gib(10)}}));
}

}  // namespace
}  // namespace ballast::plan
