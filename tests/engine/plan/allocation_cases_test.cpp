// Texts that users typed, from the reports that they came with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/plan/models.hpp"

namespace ballast::plan {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;

AllocationContext two_small_cards() {
    return machine({{cuda(0), gib(10)}, {cuda(1), gib(10)}}, gib(128));
}

/// 25 GiB in 50 MiB blocks, so that every amount of the cases is a whole number of blocks or less
/// than one off.
Placement placed(const std::string& text) {
    const auto context = two_small_cards();
    return place({.blocks = equal_blocks(512, mib(50)),
                  .policy = policy_of(text, context),
                  .devices = context.devices});
}

struct Case {
    std::string text;
    std::map<DeviceId, std::uint64_t> bytes;
};

void PrintTo(const Case& typed, std::ostream* out) { *out << typed.text; }

class AllocationCase : public ::testing::TestWithParam<Case> {};

TEST_P(AllocationCase, PlacesWhatWasAskedForToABlock) {
    const auto& [text, bytes] = GetParam();
    const auto made = placed(text);
    Bytes sum;
    for (const auto& [device, placed_bytes] : made.per_device) {
        ASSERT_TRUE(bytes.contains(device)) << to_string(device);
        const auto wanted = static_cast<double>(bytes.at(device));
        EXPECT_NEAR(static_cast<double>(placed_bytes.count()), wanted, 2.0 * 50 * (1 << 20));
        sum += placed_bytes;
    }
    EXPECT_EQ(sum, gib(25));
}

INSTANTIATE_TEST_SUITE_P(
    Valid, AllocationCase,
    ::testing::Values(Case{"cuda:0,500mb;cuda:1,3.0g;cpu,*",
                           {{cuda(0), 524288000}, {cuda(1), 3221225472}, {kCpu, 23098032128}}},
                      Case{"cuda:0,25%;cpu,75%", {{cuda(0), 6710886400}, {kCpu, 20132659200}}},
                      Case{"cuda:0,8%;cuda:1,8%;cpu,4%",
                           {{cuda(0), 10737418240}, {cuda(1), 10737418240}, {kCpu, 5368709120}}},
                      Case{"cpu,*", {{kCpu, 26843545600}}},
                      Case{"#cuda:0;16.0;cpu", {{cuda(0), 9663676416}, {kCpu, 17179869184}}}));

TEST(AllocationCases, SpellingsOfOnePlanArePlacedByteForByteAlike) {
    const std::vector<std::pair<std::string, std::string>> pairs{
        {" CUDA:0 , 2GB ; cpu , * ", "cuda:0,2gb;cpu,*"},
        {"cuda:0,2gb;cpu,*;", "cuda:0,2gb;cpu,*"},
        {"cuda:0,0gb;cpu,*", "cpu,*"}};
    for (const auto& [a, b] : pairs) {
        EXPECT_EQ(policy_of(a, two_small_cards()), policy_of(b, two_small_cards())) << a;
        EXPECT_EQ(placed(a), placed(b)) << a;
    }
    EXPECT_EQ(policy_of("cuda:0,0.8;cpu,0.5", two_small_cards()).mode, Mode::fraction);
}

TEST(AllocationCases, WhatStaysOnACardThatIsTooSmallIsSaidInNumbers) {
    EXPECT_THAT(placed("#cuda:0;2.0;cpu").warnings, Contains(HasSubstr("23.00 GiB")));
}

TEST(AllocationCases, WhatNoEntryHasRoomForIsSaidInNumbers) {
    EXPECT_THAT(placed("cuda:0,2gb;cuda:1,2gb").warnings, Contains(HasSubstr("(21.0")));
}

TEST(AllocationCases, InvalidTextsAreRefusedWithWhatUsersNeedToKnow) {
    const std::vector<std::pair<std::string, std::string>> texts{
        {"cuda:0;cpu,*", "cuda:0"},
        {"cuda:0,5", "unit"},
        {"cuda:0,5gbx;cpu,*", "5gbx"},
        {"cuda:0,-1gb;cpu,*", "negative"},
        {"cuda:0,nan%;cpu,50%", "nan"},
        {"cuda:2,1gb;cpu,*", "cuda:0, cuda:1, cpu"},
        {"cuda:0,1gb;cuda:0,2gb;cpu,*", "twice"},
        {"cuda:0,*;cpu,*", "one rest marker"},
        {"cuda:0,1gb;cuda:1,30%;cpu,*", "mixed"},
        {"cuda:0,0%;cpu,0%", "zero"},
        {"cuda:0/1gb;cpu/*", "separator"},
        {"cuda:0,99999999999999999999gb;cpu,*", "too large"}};
    for (const auto& [text, mention] : texts) {
        const auto policy = parse_allocation(text, two_small_cards());
        ASSERT_FALSE(policy.has_value()) << text;
        EXPECT_THAT(to_string(policy.error()), HasSubstr(mention));
    }
}

TEST(AllocationCases, BlocksAndLooseTensorsOfAllListsArePlacedOnce) {
    const std::vector<PlacementBlock> blocks{
        {.name = "double_blocks.0.img_attn.qkv", .bytes = Bytes{600}},
        {.name = "double_blocks.1.img_attn.qkv", .bytes = Bytes{600}},
        {.name = "img_in", .bytes = Bytes{16}},
        {.name = "single_blocks.0.linear1", .bytes = Bytes{400}},
        {.name = "single_blocks.1.linear1", .bytes = Bytes{400}},
        {.name = "single_blocks.10.linear1", .bytes = Bytes{400}},
        {.name = "<loose>", .bytes = Bytes{8}, .is_loose = true}};
    const auto context = machine({{cuda(0), Bytes{1200}}, {cuda(1), Bytes{1200}}}, Bytes{4000});
    const auto made = place({.blocks = blocks,
                             .policy = policy_of("cuda:0,1200b;cuda:1,600b;cpu,*", context),
                             .devices = context.devices});
    EXPECT_EQ(named(blocks, made.homes),
              (Homes{{"cuda:0", words("double_blocks.0.img_attn.qkv img_in single_blocks.0.linear1 "
                                      "<loose>")},
                     {"cuda:1", words("double_blocks.1.img_attn.qkv")},
                     {"cpu", words("single_blocks.1.linear1 single_blocks.10.linear1")}}));
}

}  // namespace
}  // namespace ballast::plan
