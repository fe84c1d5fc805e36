#include "ballast/engine/residency/memory_lines.hpp"

#include <gtest/gtest.h>

namespace ballast::residency {
namespace {

using namespace std::chrono_literals;
using namespace ballast::literals;

const DeviceId kFirstCard{DeviceKind::cuda, 0};
const UtcTime kTime =
    UtcTime{std::chrono::sys_days{std::chrono::January / 2 / 2026}} + 3h + 4min + 5s + 678ms;

/// Hundredths of a GiB, rounded up to whole bytes: what prints as that number.
constexpr Bytes hundredths(std::uint64_t count) { return Bytes{((count << 30U) + 99) / 100}; }

DeviceReading reading(DeviceId device, Bytes used, Bytes total = 128_GiB) {
    return {.device = device, .total = total, .used = used};
}

DeviceReading card(int index, Bytes used) { return reading({DeviceKind::cuda, index}, used); }

TEST(SnapshotLine, IsWhatMultiGpuWrites) {
    EXPECT_EQ(snapshot_line(kTime, "general", "pre-empty:cuda:0",
                            {card(1, hundredths(1908)), reading(kCpu, hundredths(4538)),
                             card(0, hundredths(1983))}),
              "2026-01-02T03:04:05.678Z general_pre-empty:cuda:0            "
              "cpu|45.38 cuda:0|19.83 cuda:1|19.08");
}

TEST(SnapshotLine, CutsNoLongName) {
    EXPECT_EQ(snapshot_line(kTime, "free_memory/minimum_memory_required", "post/pre",
                            {reading(kCpu, 1_GiB)}),
              "2026-01-02T03:04:05.678Z free_memory/minimum_memory_required_post/pre cpu|1.00");
    EXPECT_EQ(snapshot_line(kTime, "executor_reset", "pre-trigger (cpu_threshold_exceeded)", {}),
              "2026-01-02T03:04:05.678Z executor_reset_pre-trigger (cpu_threshold_exceeded)");
}

TEST(SnapshotLine, SortsByTextBehindTheProcessor) {
    EXPECT_EQ(snapshot_line(kTime, "general", "t",
                            {card(2, {}), card(10, {}), reading({DeviceKind::xpu, 0}, {}),
                             reading({DeviceKind::corex, 0}, {}), reading(kCpu, {})}),
              "2026-01-02T03:04:05.678Z general_t                           "
              "cpu|0.00 corex:0|0.00 cuda:10|0.00 cuda:2|0.00 xpu:0|0.00");
}

TEST(SnapshotLine, RoundsToTheNearestHundredthAndFromTheMiddleToTheEvenOne) {
    const auto used_text = [](Bytes used) {
        const auto line = snapshot_line(kTime, "", "", {reading(kCpu, used)});
        return line.substr(line.find('|') + 1);
    };
    EXPECT_EQ(used_text(Bytes{(1U << 30U) - 1}), "1.00");
    EXPECT_EQ(used_text(128_MiB), "0.12");  // 0.125
    EXPECT_EQ(used_text(384_MiB), "0.38");  // 0.375
    EXPECT_EQ(used_text(Bytes{~std::uint64_t{0}}), "17179869184.00");
}

TEST(LoadLine, IsWhatMultiGpuWrites) {
    EXPECT_EQ(load_line("after_vae", {reading(kFirstCard, hundredths(811), hundredths(2356)),
                                      reading(kCpu, hundredths(3120), hundredths(6270))}),
              "tag=after_vae|cpu=31.20/62.70|cuda:0=8.11/23.56");
}

TEST(LoadLine, LeavesOutDevicesWithoutASize) {
    EXPECT_EQ(load_line("t", {reading(kCpu, 1_GiB, 2_GiB), reading(kFirstCard, 1_GiB, {})}),
              "tag=t|cpu=1.00/2.00");
    EXPECT_EQ(load_line("t", {}), "tag=t");
}

TEST(ManagerParityLine, IsWhatMultiGpuWrites) {
    Cleanup cleanup{.reason = "manual",
                    .models_before = 3,
                    .models_after = 3,
                    .cpu_before = 1_GiB,
                    .cpu_after = 1_GiB + 256_KiB};
    EXPECT_EQ(manager_parity_line(cleanup),
              "[ManagerMatch] Cleanup requested (reason=manual) | models 3->3, cpu_delta_mb=0.25");
    cleanup.models_after = 1;
    cleanup.cpu_after = 512_MiB;
    EXPECT_EQ(
        manager_parity_line(cleanup),
        "[ManagerMatch] Cleanup requested (reason=manual) | models 3->1, cpu_delta_mb=-512.00");
    cleanup.cpu_after = cleanup.cpu_before;
    EXPECT_TRUE(manager_parity_line(cleanup).ends_with("cpu_delta_mb=0.00"));
    cleanup.cpu_before += 1_B;
    EXPECT_TRUE(manager_parity_line(cleanup).ends_with("cpu_delta_mb=-0.00"));
}

TEST(LoadRequestLine, IsWhatMultiGpuWrites) {
    // 0.8 GiB and a reserve of 400 MiB
    const auto inference = hundredths(80) + 400_MiB;
    EXPECT_EQ(load_request_line(kFirstCard, hundredths(503), inference),
              "[FREE_MEMORY_CALL] Device cuda:0: requesting 6.72GB = 5.03GB * 1.1 + 1.19GB "
              "inference");
}

TEST(LoadRequestLine, AddsExactValuesOfAnySize) {
    EXPECT_EQ(load_request_line(kCpu, Bytes{~std::uint64_t{0}}, 1_GiB),
              "[FREE_MEMORY_CALL] Device cpu: requesting 18897856103.40GB = 17179869184.00GB * 1.1 "
              "+ 1.00GB inference");
}

TEST(MinimumCheckLine, WillEvictWhenLessIsFreeThanRequired) {
    EXPECT_EQ(minimum_check_line(kFirstCard, 1_GiB, hundredths(119)),
              "[MIN_MEMORY_CHECK] Device cuda:0: free=1.00GB, required=1.19GB, will_evict=True");
    EXPECT_EQ(minimum_check_line(kFirstCard, 2_GiB, 2_GiB),
              "[MIN_MEMORY_CHECK] Device cuda:0: free=2.00GB, required=2.00GB, will_evict=False");
}

TEST(EvictionLine, IsWhatMultiGpuWrites) {
    EXPECT_EQ(eviction_line(kFirstCard, 1),
              "[EVICTION] Device cuda:0: unloaded 1 models due to insufficient memory");
}

}  // namespace
}  // namespace ballast::residency
