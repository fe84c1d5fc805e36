#include "ballast/engine/machine/budget.hpp"

#include <gmock/gmock.h>

#include "tests/engine/machine/machines.hpp"

namespace ballast::machine {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

DeviceProfile pool_of(double total) { return nvidia("NVIDIA GB10", total, true, true); }

DeviceAssessment with_holding(const MachineProfile& profile, Holding holding,
                              const MemoryOptions& options = {}) {
    return assess(profile, options, {{profile.devices.front().id, holding}}).devices.at(1);
}

TEST(UnifiedBudget, FollowsTheWorkedExamples) {
    struct Row {
        double total, available, loaded, releasable, reserve, fixed, now;
    };
    for (const auto& row :
         {Row{121.69, 117, 0, 0, 7.61, 108.00, 108.00}, Row{121.69, 52, 40, 4, 7.61, 108.00, 88.39},
          Row{121.69, 5.6, 0, 0, 7.61, 108.00, 0}, Row{61.4, 58, 0, 0, 3.84, 54.49, 54.16},
          Row{32, 29, 0, 0, 2.00, 28.40, 27.00}, Row{8, 6, 0, 0, 2.00, 5.60, 4.00}}) {
        SCOPED_TRACE(row.total);
        const auto device =
            with_holding(machine_with(host_of(row.total, row.available), pool_of(row.total)),
                         {gib(row.loaded), gib(row.releasable)});
        EXPECT_NEAR(in_gib(device.budget.reserve), row.reserve, 0.006);
        EXPECT_NEAR(in_gib(*device.budget.static_budget), row.fixed, 0.006);
        EXPECT_NEAR(in_gib(*device.budget.weights_now), row.now, 0.006);
    }
}

TEST(UnifiedBudget, IsComputedInDoublesAndFlooredOnce) {
    // 0.95 T - T/16 of this T has a fraction on both sides
    auto profile =
        machine_with({.total = Bytes{130663642563}, .available = Bytes{130000000000}}, pool_of(1));
    profile.devices[0].total = Bytes{130663642563};
    const double total = 130663642563.0;
    const auto device = judged(profile);
    EXPECT_EQ(device.budget.static_budget->count(),
              static_cast<std::uint64_t>(0.95 * total - total / 16));
    EXPECT_EQ(device.budget.reserve.count(), static_cast<std::uint64_t>(total / 16));
}

TEST(UnifiedBudget, TakesTheSystemsFigureAndSaysSo) {
    auto profile = machine_with(host_of(121.69, 100), pool_of(121.69));
    profile.devices[0].free = gib(1.5);  // what the driver counts: page cache is in use
    profile.host.swap_total = gib(16);
    profile.host.swap_free = gib(16);
    const auto device = judged(profile);
    EXPECT_EQ(device.free.bytes, gib(100));
    EXPECT_EQ(device.free.source, "MemAvailable");
    EXPECT_GT(*device.budget.weights_now, gib(24));
    EXPECT_LT(*device.budget.weights_now, gib(100));
}

TEST(UnifiedBudget, KeepsWithinTheDriversFigureOnApus) {
    auto apu = radeon("gfx1151", 124, true);
    apu.carveout = gib(8);
    apu.gtt = gib(124);
    apu.free = gib(94);
    const auto device = judged(machine_with(host_of(120, 110), apu));
    EXPECT_EQ(device.classification.memory_class, MemoryClass::unified);
    EXPECT_EQ(device.free.bytes, gib(94));
    EXPECT_EQ(device.total, gib(120)) << "pools that overlap are never added";
    EXPECT_LE(*device.budget.static_budget, gib(110));
}

TEST(UnifiedBudget, WithoutTheSystemsFigureTheDriversIsALowerBound) {
    auto profile = machine_with({.total = gib(121)}, pool_of(121));
    profile.devices[0].free = gib(30);
    const auto device = judged(profile);
    EXPECT_EQ(device.free.bytes, gib(30));
    EXPECT_TRUE(device.free.is_lower_bound);
    EXPECT_THAT(device.free.warnings, SizeIs(1));
}

TEST(UnifiedBudget, FreeNeverExceedsTheTotal) {
    const auto device = with_holding(machine_with(host_of(32, 31), pool_of(32)), {{}, gib(4)});
    EXPECT_EQ(device.free.bytes, gib(32));
}

TEST(UnifiedBudget, AShrinkingPoolLowersTheNextReading) {
    Bytes former = gib(1000);
    for (const double available : {100.0, 60.0, 20.0, 6.0, 1.0}) {
        const auto device = judged(machine_with(host_of(121.69, available), pool_of(121.69)));
        EXPECT_LT(*device.budget.weights_now, former);
        EXPECT_NEAR(in_gib(*device.budget.static_budget), 108.0, 0.01) << "totals do not move";
        former = *device.budget.weights_now + Bytes{1};
    }
}

TEST(UnifiedBudget, ARisingReadingIsNotTakenForMemoryOfOurs) {
    // while 40 GiB were loaded the kernel reclaimed cache: available rose by 3
    const auto before = judged(machine_with(host_of(121.69, 50), pool_of(121.69)));
    const auto after =
        with_holding(machine_with(host_of(121.69, 53), pool_of(121.69)), {gib(40), {}});
    EXPECT_NEAR(in_gib(*before.budget.weights_now), 50 - 7.61, 0.01);
    EXPECT_NEAR(in_gib(*after.budget.weights_now), 53 - 7.61 + 40, 0.01);
}

TEST(UnifiedBudget, ARefusalSaysThatThePoolIsShared) {
    const auto profile = machine_with(host_of(121.69, 5.6), pool_of(121.69));
    const MemoryOptions options;
    const DeviceQuestion question{.device = profile.devices[0],
                                  .host = profile.host,
                                  .options = options,
                                  .memory_class = MemoryClass::unified};
    const auto error = does_not_fit(question, budget(question, free_memory(question)), gib(24));
    EXPECT_EQ(error.code, Code::does_not_fit);
    EXPECT_THAT(error.why, HasSubstr("share one pool"));
    EXPECT_THAT(error.hint, HasSubstr("moving weights to the processor frees nothing"));
    EXPECT_EQ(error.shortfall.at(question.device.id).needed, gib(24).count());
    EXPECT_EQ(error.shortfall.at(question.device.id).available, 0U);
    EXPECT_EQ(error.why.find("VRAM"), std::string::npos);
}

TEST(CardBudget, IsComfyUisFormula) {
    const auto card = [](double total, System system, MemoryOptions options = {}) {
        return judged(machine_with(host_of(64, 60), nvidia("NVIDIA Card", total, false), system),
                      options)
            .budget;
    };
    const double gib24 = 24.0 * (1ULL << 30U);
    EXPECT_EQ(card(24, System::gnu_linux).static_budget->count(),
              static_cast<std::uint64_t>(0.88 * gib24 - 1278423859.2));
    EXPECT_EQ(card(24, System::windows).static_budget->count(),
              static_cast<std::uint64_t>(0.88 * gib24 - 1592996659.2));
    EXPECT_EQ(card(12, System::windows).static_budget->count(),
              static_cast<std::uint64_t>(0.88 * gib24 / 2 - 1488139059.2));
    EXPECT_EQ(card(24, System::gnu_linux).reserve, Bytes{419430400});
    EXPECT_EQ(card(24, System::gnu_linux, {.reserve = gib(3)}).reserve, gib(3));
    EXPECT_EQ(
        card(24, System::gnu_linux, {.reserve = gib(3)}).static_budget->count(),
        static_cast<std::uint64_t>(0.88 * gib24 - (0.8 * (1ULL << 30U) + 3.0 * (1ULL << 30U))));
    EXPECT_EQ(card(0.5, System::gnu_linux).static_budget, Bytes{}) << "never below zero";
}

TEST(CardBudget, WhatWeightsMayTakeNowFollowsTheDriver) {
    auto profile = machine_with(host_of(64, 60), nvidia("NVIDIA Card", 24, false));
    profile.devices[0].free = gib(20);
    const auto device = with_holding(profile, {gib(3), gib(1)});
    EXPECT_EQ(device.free.bytes, gib(21));
    EXPECT_EQ(device.free.source, "driver");
    EXPECT_NEAR(in_gib(*device.budget.weights_now), 20 + 1 + 3 - 400.0 / 1024, 1e-6);
    EXPECT_NE(device.budget.weights_now, device.budget.static_budget);
}

TEST(CardBudget, TheHostsFigureIsNeverACards) {
    auto profile = machine_with({.total = Bytes{68719476736}, .available = Bytes{58062290944}},
                                nvidia("32G-discrete", 1, false));
    profile.devices[0].total = Bytes{33665581056};
    profile.devices[0].free = Bytes{33030144000};
    EXPECT_EQ(judged(profile).free.bytes, Bytes{33030144000});
    profile.devices[0].free = Bytes{58061750272};  // another source's
    const auto clamped = judged(profile);
    EXPECT_EQ(clamped.free.bytes, Bytes{33665581056});
    EXPECT_THAT(clamped.free.warnings, testing::Not(IsEmpty()));
}

TEST(CardBudget, UnknownFreeMemoryStaysUnknown) {
    auto profile = machine_with(host_of(64, 60), nvidia("NVIDIA Card", 24, false));
    profile.devices[0].free.reset();
    const auto device = judged(profile);
    EXPECT_FALSE(device.free.bytes.has_value());
    EXPECT_FALSE(device.budget.weights_now.has_value());
    EXPECT_TRUE(device.budget.static_budget.has_value());
    profile.devices[0].query_fails = {Query::total};
    EXPECT_FALSE(judged(profile).budget.static_budget.has_value());
}

TEST(CardBudget, TheUsersLimitHolds) {
    auto profile = machine_with(host_of(64, 60), nvidia("NVIDIA Card", 24, false));
    const auto id = profile.devices[0].id;
    const auto device = judged(profile, {.limits = {{id, gib(8)}}});
    EXPECT_NEAR(in_gib(*device.budget.weights_now), 8 - 400.0 / 1024, 1e-6);
    EXPECT_EQ(device.budget.limited_by, "--memory-limit");
}

TEST(PartitionBudget, TheCarveOutIsTheDevicesAlone) {
    auto apu = radeon("Radeon 8060S", 96, true);
    apu.carveout = gib(96);
    apu.gtt = gib(15.5);
    apu.free = gib(95);
    EXPECT_EQ(judged(machine_with(host_of(31, 28), apu)).free.bytes, gib(95));
    apu.carveout = gib(64);
    EXPECT_EQ(judged(machine_with(host_of(31, 28), apu)).free.bytes, gib(92))
        << "beyond the carve-out it competes with the host";
}

TEST(PartitionBudget, WithoutAKnownCarveOutTheSmallerFigureCounts) {
    const auto device = judged(
        machine_with(host_of(120, 40), nvidia("NVIDIA RTX Spark", 100, true), System::windows));
    EXPECT_EQ(device.free.bytes, gib(40));
    EXPECT_EQ(device.free.source, "smaller of driver and MemAvailable");
}

TEST(PartitionBudget, WindowsGrantsTheCarveOutAndAShareOfTheRest) {
    auto spark = nvidia("NVIDIA RTX Spark", 128, true);
    spark.carveout = gib(16);
    const auto budget_of = [&](double host) {
        return in_gib(*judged(machine_with(host_of(host, host - 5), spark, System::windows))
                           .budget.static_budget);
    };
    const double reserve = 0.8 + 500.0 / 1024;
    // rest - 16 GB lies between 50 and 80 percent of 64 GiB
    EXPECT_NEAR(budget_of(64), 0.88 * (16 + 64 - 16e9 / (1ULL << 30U)) - reserve, 1e-6);
    EXPECT_NEAR(budget_of(24), 0.88 * (16 + 12) - reserve, 1e-6);
    EXPECT_NEAR(budget_of(112), 0.88 * (16 + 0.8 * 112) - reserve, 1e-6);
}

TEST(MetalBudget, KeepsWithinTheWorkingSet) {
    auto metal = of_kind(DeviceKind::mps, "apple", 24, true);
    metal.working_set = Bytes{19466939269};
    const auto device = judged(
        machine_with({.total = gib(24), .available = Bytes{22548578304}}, metal, System::macos));
    EXPECT_EQ(device.budget.static_budget, Bytes{19466939269});
    const Bytes weights{18156974243};
    const Bytes activations{1374389534};
    const auto room = device.budget.weights_now->minus_or_zero(activations);
    EXPECT_LT(room, weights) << "a little must be streamed";
    EXPECT_LE(room + activations, Bytes{19466939269});
    EXPECT_EQ(device.budget.limited_by, "the working set that the system grants");
}

TEST(CpuBudget, IsWhatTheContainerLeaves) {
    HostProfile host{.total = Bytes{68719476736},
                     .available = Bytes{64424509440},
                     .limit = Bytes{17179869184},
                     .limit_used = Bytes{2147483648 - 1073741824}};
    const auto cpu = [&] { return assess({.host = host}, {}).devices.front(); };
    EXPECT_EQ(cpu().total, Bytes{17179869184});
    EXPECT_EQ(cpu().free.bytes, Bytes{16106127360});
    EXPECT_EQ(cpu().free.source, "container limit");
    EXPECT_LT(*cpu().budget.weights_now, Bytes{16106127360});
    host.limit.reset();
    EXPECT_EQ(cpu().free.bytes, Bytes{64424509440});
    EXPECT_EQ(cpu().free.source, "MemAvailable");
    EXPECT_NEAR(in_gib(*cpu().budget.weights_now), 60 - 4, 1e-6);
    EXPECT_NEAR(in_gib(*cpu().budget.static_budget), 64 - 4, 1e-6);
}

TEST(CpuBudget, ASmallMachineKeepsAQuarterAtMost) {
    const auto cpu = assess({.host = host_of(4, 3)}, {}).devices.front();
    EXPECT_EQ(cpu.budget.reserve, gib(1));
    EXPECT_EQ(cpu.budget.weights_now, gib(2));
}

TEST(CpuBudget, WithoutMemAvailableCacheCountsButNotSharedMemory) {
    const HostProfile host{.total = gib(128), .free = gib(3), .cached = gib(100), .shmem = gib(63)};
    EXPECT_EQ(host_available(host), gib(40));
}

TEST(PinnedLimit, FollowsClassSystemAndSwitch) {
    const auto limit = [](MachineProfile profile, MemoryOptions options = {}) {
        return judged(profile, options).pinned_limit;
    };
    const auto card = nvidia("NVIDIA Card", 24, false);
    EXPECT_NEAR(in_gib(limit(machine_with(host_of(64, 60), card))), 0.95 * 64, 1e-6);
    EXPECT_NEAR(in_gib(limit(machine_with(host_of(64, 60), card, System::windows))), 25.6, 1e-6);
    EXPECT_EQ(limit(machine_with(host_of(64, 60), card), {.pinned_memory = false}), Bytes{});
    EXPECT_EQ(limit(machine_with(host_of(121, 110), pool_of(121))), gib(0.25));
    auto contained = machine_with(host_of(64, 60), card);
    contained.host.limit = gib(8);
    EXPECT_NEAR(in_gib(limit(contained)), 0.95 * 8, 1e-6) << "pinned memory is the container's";
    EXPECT_EQ(limit(machine_with(host_of(32, 29), of_kind(DeviceKind::xpu, "intel", 16, false))),
              Bytes{});
}

TEST(OffloadStreams, AreTwoOnCardsUnlessSaidOtherwise) {
    const auto streams = [](DeviceProfile device, MemoryOptions options = {}) {
        return judged(machine_with(host_of(128, 120), std::move(device)), options).streams;
    };
    EXPECT_EQ(streams(nvidia("NVIDIA Card", 24, false)), 2);
    EXPECT_EQ(streams(radeon("Radeon RX 7900 XTX", 24, false)), 2);
    EXPECT_EQ(streams(of_kind(DeviceKind::xpu, "intel", 16, false)), 0);
    EXPECT_EQ(streams(of_kind(DeviceKind::xpu, "intel", 16, false), {.streams = 3}), 3);
    EXPECT_EQ(streams(nvidia("NVIDIA Card", 24, false), {.streams = 0}), 0);
    EXPECT_EQ(streams(pool_of(128)), 0);
}

}  // namespace
}  // namespace ballast::machine
