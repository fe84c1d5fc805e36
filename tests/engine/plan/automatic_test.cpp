#include "ballast/engine/plan/automatic.hpp"

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <random>

namespace ballast::plan {
namespace {

using testing::Each;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
const DeviceId kGpu0{DeviceKind::cuda, 0};
const DeviceId kGpu1{DeviceKind::cuda, 1};
const DeviceId kDisk{DeviceKind::disk, 0};

PlanMachine machine_of(std::vector<PlanDevice> devices, std::uint64_t link_rate = 10'000'000'000) {
    PlanMachine machine{.devices = std::move(devices),
                        .disk_bytes_per_s = 1'000'000'000,
                        .disk_latency_ns = 100'000};
    for (const auto& from : machine.devices)
        for (const auto& to : machine.devices)
            if (from.id != to.id) machine.links.push_back({from.id, to.id, link_rate, 10'000});
    return machine;
}

PlanDevice device(DeviceId id, std::uint64_t capacity, std::uint64_t flops = 10'000'000'000'000) {
    return {.id = id, .capacity = Bytes{capacity}, .flops = flops};
}

std::vector<PlanBlock> equal_blocks(std::size_t count, std::uint64_t bytes,
                                    std::uint64_t flops = 10'000'000'000) {
    std::vector<PlanBlock> blocks;
    for (std::size_t i = 0; i < count; ++i)
        blocks.push_back({.name = "B" + std::to_string(i), .bytes = Bytes{bytes}, .flops = flops});
    return blocks;
}

struct Scene {
    std::vector<PlanBlock> blocks;
    PlanMachine machine;
    Bytes activations{};
    bool is_file_backed = true;

    [[nodiscard]] AutomaticRequest request() {
        pinned_.reset(new bool[blocks.size()]());
        return {.blocks = blocks,
                .pinned = {pinned_.get(), blocks.size()},
                .machine = machine,
                .is_file_backed = is_file_backed,
                .activations = activations};
    }
    std::unique_ptr<bool[]> pinned_{};
};

TEST(StepCost, ResidentBlocksCostTheirArithmetic) {
    const auto machine = machine_of({device(kCpu, kGiB), device(kGpu0, kGiB)});
    const auto blocks = equal_blocks(4, kMiB);
    const std::vector homes(4, kGpu0);
    const auto cost = step_cost(blocks, homes, kGpu0, machine, Bytes{});
    EXPECT_EQ(cost.compute_ns, 4'000'000U);
    EXPECT_EQ(cost.step_ns, 4'000'000U);
    EXPECT_EQ(cost.transfer_ns, 0U);
    EXPECT_EQ(cost.moved, Bytes{});
}

TEST(StepCost, ATransferHidesBehindArithmetic) {
    // 10 MB take 1 ms and 10 us; every block computes for 2 ms
    const auto machine = machine_of({device(kCpu, kGiB), device(kGpu0, kGiB)});
    const auto blocks = equal_blocks(4, 10'000'000, 20'000'000'000);
    const std::vector homes{kGpu0, kCpu, kGpu0, kCpu};
    const auto cost = step_cost(blocks, homes, kGpu0, machine, Bytes{20'000'000});
    EXPECT_EQ(cost.step_ns, cost.compute_ns);
    EXPECT_EQ(cost.moved, Bytes{20'000'000});
    EXPECT_EQ(cost.transfer_ns, 2 * (1'000'000U + 10'000U));
}

TEST(StepCost, ALinkThatIsBusierThanTheArithmeticDecides) {
    const auto machine = machine_of({device(kCpu, kGiB), device(kGpu0, kGiB)});
    const auto blocks = equal_blocks(4, 100'000'000);
    const std::vector homes(4, kCpu);
    const auto cost = step_cost(blocks, homes, kGpu0, machine, Bytes{200'000'000});
    EXPECT_GE(cost.step_ns, cost.transfer_ns);
    EXPECT_LE(cost.step_ns, cost.transfer_ns + cost.compute_ns);
    EXPECT_EQ(cost.bound_ns(), cost.transfer_ns);
}

TEST(StepCost, TheDiskIsReadThroughTheHost) {
    const auto machine = machine_of({device(kCpu, kGiB), device(kGpu0, kGiB)});
    const auto blocks = equal_blocks(1, 1'000'000'000, 0);
    const auto cost = step_cost(blocks, std::vector{kDisk}, kGpu0, machine, Bytes{2'000'000'000});
    EXPECT_EQ(cost.transfer_ns, 1'000'000'000U + 100'000U);
}

TEST(StepCost, OnePoolNeedsNoTransfer) {
    auto machine = machine_of({device(kCpu, kGiB), device(kGpu0, kGiB)});
    machine.devices[0].pool = kGpu0;
    const auto cost =
        step_cost(equal_blocks(2, kMiB), std::vector{kCpu, kGpu0}, kGpu0, machine, Bytes{});
    EXPECT_EQ(cost.moved, Bytes{});
}

TEST(StepCost, HugeFiguresDoNotOverflow) {
    auto machine = machine_of({device(kCpu, kGiB, 1), device(kGpu0, kGiB, 1)}, 1);
    const auto blocks = equal_blocks(3, std::uint64_t{1} << 60U, ~std::uint64_t{0});
    const auto cost =
        step_cost(blocks, std::vector(3, kCpu), kGpu0, machine, Bytes{std::uint64_t{1} << 61U});
    EXPECT_GE(cost.step_ns, cost.compute_ns / 2);
    const auto more = equal_blocks(10'000, std::uint64_t{1} << 60U, ~std::uint64_t{0});
    const auto slower =
        step_cost(more, std::vector(10'000, kDisk), kGpu0, machine, Bytes{std::uint64_t{1} << 61U});
    EXPECT_GE(slower.step_ns, cost.step_ns);
    EXPECT_GE(slower.transfer_ns, cost.transfer_ns);
}

TEST(StepTimer, TimesEveryPlacementOfItsModelLikeStepCost) {
    const auto machine =
        machine_of({device(kCpu, kGiB), device(kGpu0, kGiB), device(kGpu1, kGiB)}, 7'000'000'000);
    const auto blocks = equal_blocks(6, 30 * kMiB, 40'000'000'000);
    const std::vector places{kGpu0, kCpu, kGpu1, kDisk};
    StepTimer timer(blocks, places, kGpu0, machine);
    for (std::size_t number = 0; number < 4096; number += 37) {
        std::vector<PlaceIndex> at;
        std::vector<DeviceId> homes;
        for (std::size_t rest = number; at.size() < blocks.size(); rest /= 4) {
            at.push_back(static_cast<PlaceIndex>(rest % 4));
            homes.push_back(places[rest % 4]);
        }
        const Bytes ring{60 * kMiB};
        EXPECT_EQ(timer(at, ring), step_cost(blocks, homes, kGpu0, machine, ring));
    }
    EXPECT_FALSE(timer.is_away(0));
    EXPECT_TRUE(timer.is_away(3));
}

TEST(AutomaticPlan, WhatNoWayLeadsToTheComputeDeviceStaysThere) {
    auto machine = machine_of({device(kCpu, kGiB), device(kGpu0, kGiB)});
    machine.links.clear();
    Scene scene{equal_blocks(4, 512 * kMiB), machine};
    const auto plan = plan_on(scene.request(), kGpu0);
    EXPECT_FALSE(plan.fits());
    EXPECT_THAT(plan.homes, Each(kGpu0));
}

TEST(AutomaticPlan, AModelThatFitsIsResidentOnTheLargeCard) {
    Scene scene{
        equal_blocks(60, 256 * kMiB),
        machine_of({device(kCpu, 32 * kGiB), device(kGpu0, 8 * kGiB), device(kGpu1, 24 * kGiB)}),
        Bytes{2 * kGiB}};
    const auto plan = plan_automatically(scene.request());
    EXPECT_TRUE(plan.fits());
    EXPECT_EQ(plan.compute, kGpu1);
    EXPECT_THAT(plan.homes, Each(kGpu1));
    EXPECT_EQ(plan.cost.moved, Bytes{});
}

TEST(AutomaticPlan, ALargerModelUsesBothCardsAndKeepsRoomForActivations) {
    Scene scene{
        equal_blocks(104, 256 * kMiB),
        machine_of({device(kCpu, 32 * kGiB), device(kGpu0, 8 * kGiB), device(kGpu1, 24 * kGiB)}),
        Bytes{3 * kGiB}};
    const auto plan = plan_automatically(scene.request());
    EXPECT_TRUE(plan.fits());
    EXPECT_EQ(plan.compute, kGpu1);
    const auto homes = bytes_by_home(scene.blocks, plan.homes);
    EXPECT_LE(homes.at(kGpu1), Bytes{21 * kGiB});
    EXPECT_GT(homes.at(kGpu0), Bytes{});
    EXPECT_LE(homes.at(kGpu0), Bytes{8 * kGiB});
    EXPECT_FALSE(homes.contains(kDisk)) << "slower than what is free";
}

TEST(AutomaticPlan, AnImpossibleOneSaysWhatIsMissing) {
    Scene scene{
        equal_blocks(280, 256 * kMiB),
        machine_of({device(kCpu, 20 * kGiB), device(kGpu0, 8 * kGiB), device(kGpu1, 24 * kGiB)}),
        Bytes{3 * kGiB}, false};
    const auto plan = plan_automatically(scene.request());
    EXPECT_FALSE(plan.fits());
    ASSERT_FALSE(plan.shortfall.empty());
    for (const auto& [id, shortfall] : plan.shortfall) EXPECT_GT(shortfall.missing(), 0U);
}

TEST(AutomaticPlan, AFileBackedModelAlwaysFitsIfRingAndActivationsDo) {
    Scene scene{equal_blocks(280, 256 * kMiB),
                machine_of({device(kCpu, kGiB), device(kGpu0, 4 * kGiB)}), Bytes{kGiB}};
    const auto plan = plan_automatically(scene.request());
    EXPECT_TRUE(plan.fits());
    EXPECT_GT(bytes_by_home(scene.blocks, plan.homes).at(kDisk), Bytes{60 * kGiB});
}

TEST(AutomaticPlan, OnOnePoolWhatDoesNotFitStaysInTheFile) {
    auto machine = machine_of({device(kCpu, 30 * kGiB), device(kGpu0, 30 * kGiB)});
    machine.devices[0].pool = kGpu0;
    Scene scene{equal_blocks(200, 256 * kMiB), machine, Bytes{kGiB}};
    const auto plan = plan_automatically(scene.request());
    EXPECT_TRUE(plan.fits());
    const auto homes = bytes_by_home(scene.blocks, plan.homes);
    EXPECT_FALSE(homes.contains(kCpu)) << "the processor's memory is the same";
    EXPECT_TRUE(homes.contains(kDisk));
}

TEST(AutomaticPlan, WithoutAnAcceleratorTheProcessorComputes) {
    Scene scene{equal_blocks(4, kMiB), machine_of({device(kCpu, kGiB)})};
    const auto plan = plan_automatically(scene.request());
    EXPECT_EQ(plan.compute, kCpu);
    EXPECT_TRUE(plan.fits());
}

TEST(AutomaticPlan, IsTheSameEachTime) {
    Scene scene{
        equal_blocks(97, 200 * kMiB),
        machine_of({device(kCpu, 9 * kGiB), device(kGpu0, 8 * kGiB), device(kGpu1, 6 * kGiB)})};
    const auto first = plan_automatically(scene.request());
    const auto second = plan_automatically(scene.request());
    EXPECT_EQ(first.homes, second.homes);
    EXPECT_EQ(first.cost, second.cost);
}

/// Random machines and models, small or large.
class Generator {
public:
    explicit Generator(std::uint32_t seed) : random_(seed) {}

    std::uint64_t between(std::uint64_t least, std::uint64_t most) {
        return least + random_() % (most - least + 1);
    }

    Scene scene(std::size_t most_devices, std::size_t most_blocks) {
        std::vector<PlanDevice> devices{device(kCpu, between(1, 64) * kGiB, 100'000'000'000)};
        const auto cards = between(1, most_devices);
        for (int i = 0; i < static_cast<int>(cards); ++i)
            devices.push_back(device({DeviceKind::cuda, i}, between(2, 24) * kGiB,
                                     between(1, 100) * 1'000'000'000'000));
        Scene scene{{}, machine_of(std::move(devices))};
        for (auto& link : scene.machine.links) link.bytes_per_s = between(1, 50) * 1'000'000'000;
        scene.machine.disk_bytes_per_s = between(1, 70) * 100'000'000;
        const auto blocks = between(2, most_blocks);
        const auto model = between(1, 60) * kGiB;
        for (std::uint64_t i = 0; i < blocks; ++i)
            scene.blocks.push_back({.name = "B" + std::to_string(i),
                                    .bytes = Bytes{between(1, 2 * model / blocks)},
                                    .flops = between(0, 2'000) * 1'000'000'000});
        scene.activations = Bytes{between(0, kGiB)};
        return scene;
    }

private:
    std::mt19937 random_;
};

std::uint64_t time_of(const Scene& scene, const std::vector<DeviceId>& homes, DeviceId compute) {
    const auto ring = ring_for(scene.blocks, homes, compute, scene.machine);
    return step_cost(scene.blocks, homes, compute, scene.machine, ring).step_ns;
}

bool fits(Scene& scene, const std::vector<DeviceId>& homes, DeviceId compute) {
    const auto ring = ring_for(scene.blocks, homes, compute, scene.machine);
    return shortfall_of(scene.request(), compute, homes, ring).empty();
}

/// Devices are filled in their order, `compute` with room for ring and activations.
std::vector<DeviceId> greedy(Scene& scene, DeviceId compute) {
    std::map<DeviceId, Bytes> left;
    std::vector<DeviceId> order;
    Bytes largest;
    for (const auto& block : scene.blocks) largest = std::max(largest, block.bytes);
    for (const auto& each : scene.machine.devices) {
        left[each.id] = each.capacity;
        if (each.id != kCpu) order.push_back(each.id);
    }
    order.push_back(kCpu);
    left[compute] = left[compute].minus_or_zero(scene.activations + largest.times(2));
    std::vector<DeviceId> homes;
    for (const auto& block : scene.blocks) {
        auto home = kDisk;
        for (const auto id : order)
            if (left[id] >= block.bytes) {
                home = id;
                left[id] = left[id].minus_or_zero(block.bytes);
                break;
            }
        homes.push_back(home);
    }
    return homes;
}

/// Contiguous pieces of equal numbers of blocks.
std::vector<DeviceId> equal_pieces(const Scene& scene) {
    std::vector<DeviceId> homes;
    const auto devices = scene.machine.devices.size();
    for (std::size_t i = 0; i < scene.blocks.size(); ++i)
        homes.push_back(scene.machine.devices[i * devices / scene.blocks.size()].id);
    return homes;
}

/// The largest blocks stay, the others are parked in host memory.
std::vector<DeviceId> comfyui(const Scene& scene, DeviceId compute) {
    std::vector<std::size_t> order(scene.blocks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(
        order, [&](auto a, auto b) { return scene.blocks[a].bytes > scene.blocks[b].bytes; });
    auto left = scene.machine.find(compute)->capacity.minus_or_zero(
        scene.activations + scene.blocks[order[0]].bytes.times(2));
    std::vector<DeviceId> homes(scene.blocks.size(), kCpu);
    for (const auto i : order)
        if (left >= scene.blocks[i].bytes) {
            homes[i] = compute;
            left = left.minus_or_zero(scene.blocks[i].bytes);
        }
    return homes;
}

TEST(AutomaticPlanProperty, IsNeverSlowerThanTheUsualWays) {
    int compared = 0;
    for (std::uint32_t seed = 1; seed <= 600; ++seed) {
        SCOPED_TRACE(seed);
        auto scene = Generator(seed).scene(4, 120);
        const auto plan = plan_automatically(scene.request());
        if (!plan.fits()) continue;
        const auto time = time_of(scene, plan.homes, plan.compute);
        EXPECT_EQ(time, plan.cost.step_ns);
        for (const auto& homes :
             {greedy(scene, plan.compute), equal_pieces(scene), comfyui(scene, plan.compute)}) {
            if (!fits(scene, homes, plan.compute)) continue;
            ++compared;
            EXPECT_LE(time, time_of(scene, homes, plan.compute));
        }
    }
    EXPECT_GT(compared, 500);
}

TEST(AutomaticPlanProperty, IsWithinFivePercentOfTheBestOnSmallInstances) {
    int compared = 0;
    for (std::uint32_t seed = 1; seed <= 150; ++seed) {
        SCOPED_TRACE(seed);
        auto scene = Generator(seed + 10'000).scene(2, 7);
        const auto plan = plan_automatically(scene.request());
        if (!plan.fits()) continue;
        std::vector<DeviceId> places{kDisk};
        for (const auto& each : scene.machine.devices) places.push_back(each.id);
        std::uint64_t best = ~std::uint64_t{0};
        std::size_t plans = 1;
        for (std::size_t i = 0; i < scene.blocks.size(); ++i) plans *= places.size();
        for (std::size_t number = 0; number < plans; ++number) {
            std::vector<DeviceId> homes;
            for (std::size_t rest = number, i = 0; i < scene.blocks.size(); ++i) {
                homes.push_back(places[rest % places.size()]);
                rest /= places.size();
            }
            if (!fits(scene, homes, plan.compute)) continue;
            best = std::min(best, time_of(scene, homes, plan.compute));
        }
        ++compared;
        EXPECT_LE(plan.cost.step_ns * 100, best * 105);
    }
    EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace ballast::plan
