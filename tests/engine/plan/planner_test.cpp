#include "ballast/engine/plan/planner.hpp"

#include <gmock/gmock.h>

#include "ballast/engine/plan/allocation.hpp"
#include "ballast/engine/plan/blocks_json.hpp"

namespace ballast::plan {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
const DeviceId kGpu0{DeviceKind::cuda, 0};
const DeviceId kGpu1{DeviceKind::cuda, 1};

PlanMachine two_cards() {
    PlanMachine machine{
        .devices = {{.id = kCpu, .total = Bytes{64 * kGiB}, .capacity = Bytes{60 * kGiB}},
                    {.id = kGpu0, .total = Bytes{24 * kGiB}, .capacity = Bytes{22 * kGiB}},
                    {.id = kGpu1, .total = Bytes{24 * kGiB}, .capacity = Bytes{22 * kGiB}}},
        .disk_bytes_per_s = 1'000'000'000};
    for (const auto& from : machine.devices)
        for (const auto& to : machine.devices)
            if (from.id != to.id) machine.links.push_back({from.id, to.id, 12'000'000'000, 10'000});
    return machine;
}

PlanRequest ten_blocks(std::string_view text) {
    PlanRequest request{.machine = two_cards()};
    for (int i = 0; i < 10; ++i)
        request.blocks.push_back({.name = "B" + std::to_string(i), .bytes = Bytes{kGiB}});
    AllocationContext context{
        .devices = {{kCpu, Bytes{64 * kGiB}}, {kGpu0, Bytes{24 * kGiB}}, {kGpu1, Bytes{24 * kGiB}}},
        .compute = kGpu0};
    const auto policy = parse_allocation(text, context);
    EXPECT_TRUE(policy.has_value()) << text;
    if (policy) request.policy = *policy;
    return request;
}

TEST(MakePlan, ObeysAnAllocation) {
    const auto request = ten_blocks("cuda:0,2.5gb;cuda:1,3.0g;cpu,*#cuda:0");
    const auto plan = make_plan(request);
    EXPECT_EQ(plan.mode, Mode::bytes);
    EXPECT_EQ(plan.compute, kGpu0);
    EXPECT_EQ(plan.per_device.at(kGpu0), Bytes{2 * kGiB});
    EXPECT_EQ(plan.per_device.at(kGpu1), Bytes{3 * kGiB});
    EXPECT_EQ(plan.per_device.at(kCpu), Bytes{5 * kGiB});
    EXPECT_EQ(plan.ring, Bytes{2 * kGiB});
    EXPECT_EQ(plan.moved, Bytes{8 * kGiB});
    EXPECT_TRUE(plan.fits);
    EXPECT_FALSE(plan.expected.has_value()) << "nobody knows the FLOPs";
    EXPECT_THAT(plan.explanation, Contains(HasSubstr("cuda:0: 2.00 GiB of weights")));
}

TEST(MakePlan, WithoutAnAllocationKeepsAllOnOneCard) {
    const auto plan = make_plan(ten_blocks(""));
    EXPECT_EQ(plan.mode, Mode::automatic);
    EXPECT_THAT(plan.homes, Each(plan.compute));
    EXPECT_EQ(plan.ring, Bytes{});
}

TEST(MakePlan, ComputesWhereItIsTold) {
    auto request = ten_blocks("");
    request.compute = kGpu1;
    EXPECT_EQ(make_plan(request).compute, kGpu1);
}

TEST(MakePlan, OverfullDevicesAreNamedWithFigures) {
    auto request = ten_blocks("cuda:0,9gb;cpu,*#cuda:0");
    request.machine.devices[1].capacity = Bytes{8 * kGiB};
    request.activations = Bytes{kGiB};
    const auto plan = make_plan(request);
    EXPECT_FALSE(plan.fits);
    ASSERT_TRUE(plan.shortfall.contains(kGpu0));
    EXPECT_EQ(plan.shortfall.at(kGpu0).needed, (9 + 2 + 1) * kGiB) << "weights, ring, activations";
    EXPECT_EQ(plan.shortfall.at(kGpu0).missing(), 4 * kGiB);
    EXPECT_THAT(plan.explanation, Contains(HasSubstr("missing 4.00 GiB")));
}

TEST(MakePlan, ADonorOfTheSamePoolIsWarnedOf) {
    auto request = ten_blocks("cuda:0,2gb;cpu,*#cuda:0");
    request.machine.devices[0].pool = kGpu0;
    const auto plan = make_plan(request);
    EXPECT_THAT(plan.warnings, Contains(HasSubstr("donor cpu shares memory with cuda:0")));
    EXPECT_EQ(plan.moved, Bytes{});
    EXPECT_TRUE(plan.fits);
    request.machine.devices[1].capacity = Bytes{9 * kGiB};
    EXPECT_FALSE(make_plan(request).fits) << "the pool holds both";
}

TEST(MakePlan, ADeviceThatVanishedIsAShortfallAndNoCrash) {
    auto request = ten_blocks("cuda:0,2gb;cuda:1,2gb;cpu,*#cuda:0");
    request.machine.devices.pop_back();
    const auto plan = make_plan(request);
    EXPECT_FALSE(plan.fits);
    EXPECT_EQ(plan.shortfall.at(kGpu1).available, 0U);
    EXPECT_FALSE(plan.expected.has_value());
}

TEST(MakePlan, OneBlockLargerThanAnyDeviceIsAShortfall) {
    auto request = ten_blocks("");
    request.blocks[3].bytes = Bytes{500 * kGiB};
    request.is_file_backed = false;
    EXPECT_FALSE(make_plan(request).fits);
    request.is_file_backed = true;
    EXPECT_FALSE(make_plan(request).fits) << "it must travel through the ring";
}

TEST(MakePlan, NothingIsAPlan) {
    PlanRequest request{.machine = two_cards()};
    EXPECT_TRUE(make_plan(request).fits);
    request.machine = {.devices = {{.id = kCpu, .capacity = Bytes{kGiB}}}};
    EXPECT_EQ(make_plan(request).compute, kCpu);
}

TEST(MakePlan, EqualRequestsGiveEqualPlans) {
    const auto request = ten_blocks("cuda:0,25%;cpu,75%#cuda:0");
    EXPECT_EQ(make_plan(request), make_plan(request));
}

TEST(MakePlan, KnownFlopsGiveAnExpectation) {
    auto request = ten_blocks("cuda:0,5gb;cpu,*#cuda:0");
    for (auto& block : request.blocks) block.flops = 1'000'000'000'000;
    request.machine.devices[1].flops = 100'000'000'000'000;
    const auto plan = make_plan(request);
    ASSERT_TRUE(plan.expected.has_value());
    EXPECT_GE(plan.expected->step_ns, plan.expected->bound_ns);
}

TEST(BlockList, ReadsWhatItsFormatSays) {
    const auto list = parse_blocks(R"({"blocks": [{"name": "a", "bytes": 5, "type": "Linear",
        "fetchable": false, "flops": 7, "activation_bytes": 3}, {"name": "b", "bytes": 0}],
        "loose_bytes": 9, "file_backed": false})",
                                   "blocks.json");
    ASSERT_TRUE(list.has_value());
    ASSERT_EQ(list->blocks.size(), 3U);
    EXPECT_EQ(list->blocks[0].flops, 7U);
    EXPECT_FALSE(list->blocks[0].is_fetchable);
    EXPECT_FALSE(list->blocks[1].flops.has_value());
    EXPECT_TRUE(list->blocks[2].is_loose);
    EXPECT_EQ(list->blocks[2].bytes, Bytes{9});
    EXPECT_FALSE(list->is_file_backed);
    EXPECT_THAT(list->warnings, IsEmpty());
}

TEST(BlockList, RefusesWithThePath) {
    const auto refused = [](const char* text) {
        const auto list = parse_blocks(text, "blocks.json");
        EXPECT_FALSE(list.has_value()) << text;
        return list ? std::string{} : list.error().place.key;
    };
    EXPECT_EQ(refused(R"({})"), "blocks");
    EXPECT_EQ(refused(R"({"blocks": [{"bytes": 1}]})"), "blocks[0].name");
    EXPECT_EQ(refused(R"({"blocks": [{"name": "a"}]})"), "blocks[0].bytes");
    EXPECT_EQ(refused(R"({"blocks": [{"name": "a", "bytes": -1}]})"), "blocks[0].bytes");
    EXPECT_EQ(refused(R"({"blocks": [{"name": "a", "bytes": 1}, {"name": "a", "bytes": 1}]})"),
              "blocks[1].name");
    EXPECT_EQ(refused("["), "");
}

}  // namespace
}  // namespace ballast::plan
