#include "ballast/engine/plan/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/engine/plan/models.hpp"

namespace ballast::plan {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;

AllocationContext eleven_cards() {
    std::vector<PresentDevice> cards;
    for (int i = 0; i <= 10; ++i) cards.push_back({cuda(i), gib(24)});
    return machine(std::move(cards), gib(64));
}

AllocationContext apple() { return machine({{{DeviceKind::mps, 0}, gib(32)}}, gib(32)); }

/// A worked example: what is asked for, and where the blocks belong. "cuda:0: B0 B1 | cpu: B2".
struct Example {
    int number;
    std::vector<PlacementBlock> blocks;
    AllocationContext context;
    std::string text;
    std::string correct;   ///< empty: refused
    std::string original;  ///< what DisTorch2 does; empty: it raises
    ModelRole role = ModelRole::network;
};

void PrintTo(const Example& example, std::ostream* out) { *out << example.text; }

Homes homes_of(const std::string& text) {
    Homes homes;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto stop = std::min(text.find(" | ", begin), text.size());
        const auto part = text.substr(begin, stop - begin);
        const auto colon = part.find(": ");
        homes[part.substr(0, colon)] = words(part.substr(colon + 2));
        begin = stop + 3;
    }
    return homes;
}

std::vector<Example> examples() {
    const auto m1 = model_1();
    const auto m2 = model_2();
    const auto a = system_a();
    const auto three = equal_blocks(3, gib(4), "X");
    const auto eight = equal_blocks(8, mib(10), "s");
    return {
        {1, m1, a, "cuda:0,2.5gb;cuda:1,3.0g;cpu,*#cuda:0",
         "cuda:0: B0 B1 | cuda:1: B2 B3 B4 | cpu: B5 B6 B7 B8 B9",
         "cuda:0: B0 B8 B9 | cuda:1: B5 B6 B7 | cpu: B1 B2 B3 B4"},
        {2, m1, system_b(), "cuda:0,3gb;cpu,*#cuda:1",
         "cuda:0: B0 B1 B2 | cpu: B3 B4 B5 B6 B7 B8 B9",
         "cuda:0: B8 B9 | cpu: B1 B2 B3 B4 B5 B6 B7 | cuda:1: B0"},
        {3, eight, system_w(), "cpu,20mb;cuda:0,*#cuda:0", "cpu: s0 s1 | cuda:0: s2 s3 s4 s5 s6 s7",
         "cuda:0: s0 s1 s2 s3 s4 s5 s6 s7"},
        {4, m1, a, "cuda:0,25%;cpu,75%#cuda:0", "cuda:0: B0 B1 B2 | cpu: B3 B4 B5 B6 B7 B8 B9",
         "cuda:0: B0 B8 B9 | cpu: B1 B2 B3 B4 B5 B6 B7"},
        {5, m1, a, "cuda:0,8%;cuda:1,8%;cpu,4%#cuda:0",
         "cuda:0: B0 B1 B2 B3 | cuda:1: B4 B5 B6 B7 | cpu: B8 B9",
         "cpu: B1 | cuda:0: B0 B6 B7 B8 B9 | cuda:1: B2 B3 B4 B5"},
        {6, three, a, "cuda:0,50%;cpu,50%#cuda:0", "cuda:0: X0 X1 | cpu: X2",
         "cuda:0: X0 X2 | cpu: X1"},
        {7, m1, a, "cuda:0,50%;cpu,*#cuda:0", "cuda:0: B0 B1 B2 B3 B4 | cpu: B5 B6 B7 B8 B9", ""},
        {8, m1, a, "cuda:0,0.1;cpu,0.5#cuda:0", "cuda:0: B0 B1 | cpu: B2 B3 B4 B5 B6 B7 B8 B9",
         "cuda:0: B8 B9 | cpu: B0 B1 B2 B3 B4 B5 B6 B7"},
        {9, m1, a, "cuda:0,0.1;cuda:1,0.05#cuda:1",
         "cuda:0: B0 B1 | cuda:1: B2 | cpu: B3 B4 B5 B6 B7 B8 B9",
         "cuda:0: B8 B9 | cuda:1: B0 B1 B2 B3 B4 B5 B6 B7"},
        {10, m1, a, "#cuda:0;4.0;cpu", "cuda:0: B0 B1 B2 B3 B4 B5 | cpu: B6 B7 B8 B9",
         "cuda:0: B4 B5 B6 B7 B8 B9 | cpu: B0 B1 B2 B3"},
        {11, m2, a, "#cuda:0;4.0;cpu",
         "cuda:0: E A0 F0 A1 F1 A2 F2 A3 F3 n | cpu: A4 F4 A5 F5 A6 F6 A7 F7 O",
         "cuda:0: E A3 A4 F4 A5 F5 A6 F6 A7 F7 O n | cpu: A0 F0 A1 F1 A2 F2 F3"},
        {12, m1, system_t(), "#cuda:0;6.0;cuda:1,cpu",
         "cuda:0: B0 B1 B2 B3 | cuda:1: B4 B5 B6 B7 | cpu: B8 B9",
         "cpu: B1 | cuda:0: B0 B6 B7 B8 B9 | cuda:1: B2 B3 B4 B5"},
        {13, model_3(), a, "#cuda:1;99;cpu",
         "cuda:1: token_embedding position_embedding final_ln | cpu: L0 L1 L2 L3 L4 L5 L6 L7",
         "cuda:1: token_embedding position_embedding final_ln | cpu: L0 L1 L2 L3 L4 L5 L6 L7",
         ModelRole::text_encoder},
        {14, model_3(), a, "cuda:1,1gb;cpu,*#cuda:1",
         "cuda:1: token_embedding position_embedding L0 L1 final_ln | cpu: L2 L3 L4 L5 L6 L7",
         "cuda:1: token_embedding position_embedding L0 L6 L7 final_ln | cpu: L1 L2 L3 L4 L5",
         ModelRole::text_encoder},
        {15, m1, a, "cuda:0,8gb;cuda:1,8gb;cpu,*#cuda:0",
         "cuda:0: B0 B1 B2 B3 B4 B5 B6 B7 | cuda:1: B8 B9",
         "cuda:0: B0 B1 B3 B4 B5 B6 B7 B8 B9 | cuda:1: B2"},
        {16, m1, eleven_cards(), "cuda:2,2gb;cuda:10,2gb;cpu,*#cuda:2",
         "cuda:2: B0 B1 | cuda:10: B2 B3 | cpu: B4 B5 B6 B7 B8 B9",
         "cuda:10: B9 | cuda:2: B0 B1 B8 | cpu: B2 B3 B4 B5 B6 B7"},
        {17, m2, a, "cuda:0,500mb;cpu,*#cuda:0",
         "cuda:0: A0 O n | cpu: E F0 A1 F1 A2 F2 A3 F3 A4 F4 A5 F5 A6 F6 A7 F7",
         "cuda:0: E A7 O n | cpu: A0 F0 A1 F1 A2 F2 A3 F3 A4 F4 A5 F5 A6 F6 F7"},
        {18, model_4(), a, "cuda:0,2gb;cpu,*#cuda:0", "cuda:0: pos_param A ln | cpu: B C",
         "cuda:0: pos_param ln B C | cpu: A"},
        {19, m1, a, "cpu,3gb#cuda:0", "cpu: B0 B1 B2 B3 B4 B5 B6 B7 B8 B9",
         "cpu: B1 B2 B3 B4 B5 B6 B7 B8 B9 | cuda:0: B0"},
        {20, m2, a, "cuda:0,50%;cuda:1,30%;cpu,20%#cuda:0",
         "cuda:0: E A0 F0 A1 F1 A2 F2 A3 F3 n | cuda:1: A4 F4 A5 F5 A6 | cpu: F6 A7 F7 O",
         "cuda:0: E A4 F4 A5 F5 A6 F6 A7 F7 O n | cuda:1: A0 A1 A2 F2 A3 F3 | cpu: F0 F1"},
        {21, m1, a, "cuda:0,1gb;cuda:0,2gb;cpu,*#cuda:0", "",
         "cuda:0: B0 B1 B9 | cpu: B2 B3 B4 B5 B6 B7 B8"},
        {22, m1, apple(), "mps,0.1;cpu,0.2#mps", "mps: B0 B1 B2 | cpu: B3 B4 B5 B6 B7 B8 B9",
         "cpu: B0 B1 B2 B3 B4 B5 B6 B7 B8 B9"},
    };
}

class WorkedExample : public ::testing::TestWithParam<Example> {};

Placement placed(const Example& example) {
    return place({.blocks = example.blocks,
                  .role = example.role,
                  .policy = policy_of(example.text, example.context),
                  .devices = example.context.devices});
}

TEST_P(WorkedExample, IsPlacedAsAsked) {
    const auto& example = GetParam();
    if (example.correct.empty()) {
        const auto policy = parse_allocation(example.text, example.context);
        ASSERT_FALSE(policy.has_value());
        EXPECT_EQ(policy.error().place.column, 12U);
        return;
    }
    EXPECT_EQ(named(example.blocks, placed(example).homes), homes_of(example.correct));
}

TEST_P(WorkedExample, IsPlacedAsDistorch2DoesIt) {
    const auto& example = GetParam();
    const auto made = place_like_distorch2({.blocks = example.blocks,
                                            .role = example.role,
                                            .text = example.text,
                                            .machine = example.context});
    ASSERT_EQ(made.has_value(), !example.original.empty());
    if (!made) return;
    EXPECT_EQ(named(example.blocks, made->homes), homes_of(example.original));
}

INSTANTIATE_TEST_SUITE_P(All, WorkedExample, ::testing::ValuesIn(examples()),
                         [](const auto& example) {
                             return "Number" + std::to_string(example.param.number);
                         });

TEST(Placement, AddsUpWhatEachDeviceHolds) {
    const auto made = placed(examples()[0]);
    EXPECT_EQ(made.per_device,
              (std::map<DeviceId, Bytes>{{cuda(0), gib(2)}, {cuda(1), gib(3)}, {kCpu, gib(5)}}));
    EXPECT_EQ(made.quotas, (std::map<DeviceId, Bytes>{{cuda(0), mib(2560)}, {cuda(1), gib(3)}}));
    EXPECT_EQ(made.remainder, kCpu);
    EXPECT_EQ(made.left_over, gib(5));
    EXPECT_TRUE(made.warnings.empty());
}

TEST(Placement, PinnedBlocksAreChargedToTheComputeDevice) {
    const auto made = placed(examples()[17]);
    EXPECT_EQ(made.pinned, (std::vector{Pinned::not_fetchable, Pinned::no, Pinned::tiny, Pinned::no,
                                        Pinned::no}));
    EXPECT_EQ(made.quotas.at(cuda(0)),
              Bytes{gib(2).count() - mib(900).count() - mib(1).count() / 20});
}

TEST(Placement, VirtualMemoryFreesAtLeastWhatWasAsked) {
    const auto made = placed(examples()[10]);
    EXPECT_EQ(made.per_device.at(kCpu), mib(4100));
    EXPECT_EQ(made.quotas.at(cuda(0)), mib(4604)) << "8700.1 - 4096 - 0.1";
}

TEST(Placement, DonorsInTheMiddleTakeWhatEarlierOnesLeftUncovered) {
    const auto context =
        machine({{cuda(0), gib(24)}, {cuda(1), gib(2)}, {cuda(2), gib(24)}}, gib(64));
    const auto made = place({.blocks = model_1(),
                             .policy = policy_of("#cuda:0;5.0;cuda:1,cuda:2,cpu", context),
                             .devices = context.devices});
    EXPECT_EQ(made.quotas,
              (std::map<DeviceId, Bytes>{{cuda(0), gib(5)}, {cuda(1), gib(2)}, {cuda(2), gib(3)}}));
    EXPECT_FALSE(made.per_device.contains(kCpu));
}

TEST(Placement, TheRemaindersDeviceWaitsForTheOthersWhereverItWasTyped) {
    auto example = examples()[0];
    example.text = "cpu,1gb;cuda:0,2gb";
    const auto made = placed(example);
    EXPECT_EQ(named(example.blocks, made.homes),
              homes_of("cuda:0: B0 B1 | cpu: B2 B3 B4 B5 B6 B7 B8 B9"));
    EXPECT_EQ(made.left_over, gib(8));
    EXPECT_EQ(made.quotas.at(kCpu), gib(1));
}

TEST(Placement, ReportsWhatTakesMoreThanItsQuota) {
    EXPECT_THAT(placed(examples()[18]).warnings,
                Contains("cpu: quota 3221225472 bytes (3.00 GiB), assigned 10737418240 bytes "
                         "(10.00 GiB)"));
    auto example = examples()[0];
    example.text = "cuda:0,2gb;cpu,5gb*";
    EXPECT_THAT(placed(example).warnings, Contains(HasSubstr("cpu: quota 5368709120 bytes")));
    example.text = "cuda:0,2gb;cpu,8gb*";
    EXPECT_TRUE(placed(example).warnings.empty());
}

TEST(Placement, SaysWhatNoEntryHadRoomFor) {
    const auto warnings = placed(examples()[8]).warnings;
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_THAT(warnings[0], HasSubstr("7516192768 bytes (7.00 GiB)"));
    EXPECT_THAT(warnings[0], HasSubstr("no rest marker"));
}

TEST(Placement, WarnsWhenPinnedBlocksExceedTheQuota) {
    auto example = examples()[17];
    example.text = "cuda:0,500mb;cpu,*";
    const auto made = placed(example);
    EXPECT_THAT(made.warnings, Contains(HasSubstr("quota of 524288000 bytes")));
    EXPECT_EQ(named(example.blocks, made.homes), homes_of("cuda:0: pos_param ln | cpu: A B C"));
    example.text = "cuda:0,1%;cpu,99%";
    EXPECT_THAT(placed(example).warnings, Contains(HasSubstr("more than its share")));
}

TEST(Placement, LooseParametersStayOnTheComputeDevice) {
    auto example = examples()[9];
    example.blocks.push_back({.name = "<loose>", .bytes = gib(1), .is_loose = true});
    const auto made = placed(example);
    EXPECT_EQ(made.pinned.back(), Pinned::loose);
    EXPECT_EQ(named(example.blocks, made.homes),
              homes_of("cuda:0: B0 B1 B2 B3 B4 B5 <loose> | cpu: B6 B7 B8 B9"));
}

TEST(Placement, KnowsHeadBlocksByTheirNamesInTextEncodersOnly) {
    for (const auto& name : {"token_embedding", "EMBED", "transformer.wte", "h.wpe.x"})
        EXPECT_TRUE(is_head_name(name)) << name;
    for (const auto& name : {"layers.0.attn", "emb", "wt"})
        EXPECT_FALSE(is_head_name(name)) << name;
    EXPECT_EQ(pinned_blocks(model_3(), ModelRole::network)[0], Pinned::no);
}

TEST(Placement, TinyIsBelowAHundredthOfAPercent) {
    const std::vector<PlacementBlock> blocks{{.name = "a", .bytes = Bytes{999'900}},
                                             {.name = "b", .bytes = Bytes{100}}};
    EXPECT_EQ(pinned_blocks(blocks, ModelRole::network)[1], Pinned::no) << "exactly 0.01 %";
    auto smaller = blocks;
    smaller[1].bytes = Bytes{99};
    EXPECT_EQ(pinned_blocks(smaller, ModelRole::network)[1], Pinned::tiny);
}

TEST(Placement, BlocksOfTwoToThe60BytesDoNotOverflow) {
    const auto blocks = equal_blocks(1000, Bytes{1ULL << 60U});
    const auto context = system_a();
    const auto shared = place({.blocks = blocks,
                               .policy = policy_of("cuda:0,25%;cuda:1,25%;cpu,50%", context),
                               .devices = context.devices});
    EXPECT_EQ(std::count(shared.homes.begin(), shared.homes.end(), cuda(1)), 250);
    const auto capped = place({.blocks = blocks,
                               .policy = policy_of("cuda:0,33.3%;cpu,*", context),
                               .devices = context.devices});
    EXPECT_EQ(std::count(capped.homes.begin(), capped.homes.end(), cuda(0)), 333);
}

TEST(Placement, ModelsOfNothingHaveAPlacement) {
    for (const auto& text : {"cuda:0,50%;cpu,50%", "cuda:0,1gb;cpu,*", "#cuda:0;4;cpu", ""}) {
        const auto policy = policy_of(text, system_a());
        EXPECT_TRUE(place({.policy = policy}).homes.empty());
        const auto made = place({.blocks = equal_blocks(3, Bytes{}), .policy = policy});
        EXPECT_EQ(made.homes.size(), 3U) << text;
    }
}

TEST(Placement, TenThousandBlocksOn64DevicesTakeMilliseconds) {
    AllocationContext context{.compute = cuda(0)};
    std::string shares;
    std::string ceilings;
    for (int i = 0; i < 64; ++i) {
        context.devices.push_back({cuda(i), gib(24)});
        shares += "cuda:" + std::to_string(i) + "," + std::to_string(i + 1) + ".7%;";
        ceilings += "cuda:" + std::to_string(i) + ",100mb;";
    }
    const auto blocks = equal_blocks(10'000, mib(1));
    for (const auto& text : {shares, ceilings}) {
        const PlacementRequest request{
            .blocks = blocks, .policy = policy_of(text, context), .devices = context.devices};
        const auto began = std::chrono::steady_clock::now();
        const auto made = place(request);
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - began;
        EXPECT_EQ(made.homes.size(), 10'000U);
        RecordProperty("milliseconds", std::to_string(took.count()));
        EXPECT_LT(took.count(), 250) << "a few milliseconds when optimised on an idle machine";
    }
}

}  // namespace
}  // namespace ballast::plan
