// The truth table of platforms: class, state, where things wait, budget, emptying, pinned memory.

#include <gtest/gtest.h>

#include "tests/engine/machine/machines.hpp"

namespace ballast::machine {
namespace {

enum class Waits { on_host, on_device };
enum class Pinned { host_095, host_040, ring, off };

struct Row {
    int number;
    MachineProfile profile;
    MemoryClass memory_class;
    const char* rule;
    VramState state;
    Waits waits;
    double budget;  ///< GiB; negative: none
    CacheAction emptying;
    Pinned pinned;
    MemoryOptions options = {};
    std::size_t device = 1;  ///< in the list, the processor being 0
};

using enum MemoryClass;
using enum Waits;
using enum Pinned;
constexpr auto kNormal = VramState::normal;
constexpr auto kHigh = VramState::high;
constexpr auto kOff = VramState::disabled;
constexpr auto kRelease = CacheAction::release;
constexpr auto kSynchronise = CacheAction::synchronise;

DeviceProfile strix(double total, double carveout, double gtt) {
    auto device = radeon("Radeon 8060S", total, true);
    device.carveout = gib(carveout);
    device.gtt = gib(gtt);
    return device;
}

MachineProfile station() {
    auto profile = machine_with(host_of(496, 480), nvidia("NVIDIA GB300", 279, false, true));
    profile.devices.push_back(nvidia("NVIDIA RTX PRO 6000", 96, false));
    profile.devices.back().id.index = 1;
    return profile;
}

std::vector<Row> rows() {
    const auto gb10 = nvidia("NVIDIA GB10", 121.69, true, true);
    const auto rtx4090 = nvidia("NVIDIA GeForce RTX 4090", 24, false);
    const auto spark_host = host_of(121.69, 117);
    const MemoryOptions cpu_mode{.vram = VramFlag::cpu};
    const MemoryOptions low{.vram = VramFlag::low};
    auto windows_spark = nvidia("NVIDIA RTX Spark", 100, true);
    return {
        {1,
         machine_with(host_of(64, 50), of_kind(DeviceKind::mps, "apple", 64, true), System::macos),
         shared, "D2", VramState::shared, on_host, 0.88 * 64 - 1.19, kRelease, off},
        {2, machine_with(host_of(64, 60), rtx4090), discrete, "D7", kNormal, on_host, 19.93,
         kRelease, host_095},
        {3, machine_with(host_of(64, 60), nvidia("NVIDIA A100 80GB PCIe", 80, false)), discrete,
         "D7", kNormal, on_host, 69.2, kRelease, host_095},
        {4, machine_with(host_of(48, 40), nvidia("NVIDIA RTX A6000", 48, false)), discrete, "D7",
         kNormal, on_host, 41.05, kRelease, host_095},
        {5, machine_with(host_of(125.8, 120), nvidia("NVIDIA H200", 139.8, false)), discrete, "D7",
         kNormal, on_host, 121.8, kRelease, host_095},
        {6, machine_with(spark_host, gb10), unified, "D3", kHigh, on_device, 108.0, kSynchronise,
         ring},
        {7, machine_with(spark_host, silent(gb10)), unified, "D8", kHigh, on_device, 108.0,
         kSynchronise, ring},
        {8, machine_with(host_of(1024, 1000), silent(nvidia("NVIDIA GB102", 180, false))), discrete,
         "D10", kNormal, on_host, 157.2, kRelease, host_095},
        {9, machine_with(host_of(16, 14), nvidia("NVIDIA GB10", 121.7, true, true)), unified, "D3",
         kHigh, on_device, 0.95 * 16 - 2, kSynchronise, ring},
        {10, machine_with(host_of(480, 470), nvidia("NVIDIA GB200", 186, false, true)), coherent,
         "D6", kNormal, on_host, 162.5, kRelease, host_095},
        {11, machine_with(host_of(480, 470), nvidia("NVIDIA GH200 480GB", 96, true, true)),
         coherent, "D3a", kNormal, on_host, 83.3, kRelease, host_095},
        {11, machine_with(host_of(480, 470), nvidia("NVIDIA GH200 480GB", 96, false, true)),
         coherent, "D6", kNormal, on_host, 83.3, kRelease, host_095},
        {12, station(), coherent, "D6", kNormal, on_host, 0.88 * 279 - 1.19, kRelease, host_095},
        {12,
         station(),
         discrete,
         "D7",
         kNormal,
         on_host,
         0.88 * 96 - 1.19,
         kRelease,
         host_095,
         {},
         2},
        {13, machine_with(host_of(61.4, 58), nvidia("Orin", 61.4, true)), unified, "D3", kHigh,
         on_device, 54.5, kSynchronise, ring},
        {14, machine_with(host_of(7.4, 6), nvidia("Orin", 7.4, true)), unified, "D3", kHigh,
         on_device, 5.0, kSynchronise, ring},
        {15, machine_with(host_of(122, 118), nvidia("NVIDIA Thor", 122, true, true)), unified, "D3",
         kHigh, on_device, 108.3, kSynchronise, ring},
        {16, machine_with(host_of(31, 28), strix(96, 96, 15.5)), partitioned, "D4", kNormal,
         on_host, 83.3, kRelease, host_040},
        {17, machine_with(host_of(125, 120), strix(62.5, 0.5, 62)), unified, "D4", kHigh, on_device,
         55.5, kSynchronise, ring},
        {18, machine_with(host_of(125, 120), strix(124, 0.5, 123.5)), unified, "D4", kHigh,
         on_device, 110.0, kSynchronise, ring},
        {19, machine_with(host_of(64, 60), radeon("Radeon RX 7900 XTX", 24, false)), discrete, "D7",
         kNormal, on_host, 19.93, kRelease, host_095},
        {20, machine_with(host_of(32, 29), of_kind(DeviceKind::xpu, "intel", 32, true)), unified,
         "D5", kHigh, on_device, 28.4, kSynchronise, off},
        {21, machine_with(host_of(32, 29), of_kind(DeviceKind::xpu, "intel", 16, false)), discrete,
         "D7", kNormal, on_host, 12.89, kRelease, off},
        {22, machine_with(host_of(15.6, 14), rtx4090, System::wsl2), discrete, "D7", kNormal,
         on_host, 19.93, kRelease, host_040},
        {23, machine_with(host_of(62, 60), rtx4090, System::wsl2), discrete, "D7", kNormal, on_host,
         19.93, kRelease, host_040},
        {24, machine_with(host_of(120, 100), windows_spark, System::windows), partitioned, "D3",
         kNormal, on_host, 0.88 * 100 - 1.29, kRelease, host_040},
        {25, machine_with(host_of(64, 60), rtx4090, System::windows), discrete, "D7", kNormal,
         on_host, 19.64, kRelease, host_040},
        {27, machine_with(spark_host, gb10), none, "D1", kOff, on_host, -1, CacheAction::nothing,
         off, cpu_mode},
        {28, machine_with(host_of(64, 60), rtx4090), discrete, "D7", VramState::low, on_host, 19.93,
         kRelease, host_095, low},
        {28, machine_with(spark_host, gb10), unified, "D3", VramState::low, on_device, 108.0,
         kSynchronise, ring, low},
    };
}

std::uint64_t pinned_bytes(Pinned pinned, const HostProfile& host) {
    const auto total = static_cast<double>(host.total->count());
    switch (pinned) {
        case host_095: return static_cast<std::uint64_t>(0.95 * total);
        case host_040: return static_cast<std::uint64_t>(0.40 * total);
        case ring: return std::uint64_t{256} << 20U;
        case off: break;
    }
    return 0;
}

TEST(TruthTable, EveryPlatformIsJudgedAsItStands) {
    for (const auto& row : rows()) {
        SCOPED_TRACE("row " + std::to_string(row.number));
        const auto device = assess(row.profile, row.options).devices.at(row.device);
        EXPECT_EQ(to_string(device.classification.memory_class), to_string(row.memory_class));
        EXPECT_EQ(device.classification.rule, row.rule);
        EXPECT_EQ(to_string(device.state), to_string(row.state));
        const auto waits = row.waits == on_device ? device.id : kCpu;
        EXPECT_EQ(to_string(device.placement.unet_offload), to_string(waits));
        EXPECT_EQ(to_string(device.placement.text_encoder_offload), to_string(waits));
        EXPECT_EQ(to_string(device.placement.vae_offload), to_string(waits));
        EXPECT_EQ(to_string(device.placement.intermediate), to_string(waits));
        if (row.budget >= 0) {
            EXPECT_NEAR(in_gib(*device.budget.static_budget), row.budget, 0.05);
        }
        EXPECT_EQ(to_string(device.soft_empty), to_string(row.emptying));
        EXPECT_EQ(device.pinned_limit.count(), pinned_bytes(row.pinned, row.profile.host));
    }
}

TEST(TruthTable, Row26AMachineWithoutAcceleratorsComputesOnTheProcessor) {
    const auto assessment = assess({.host = host_of(32, 29)}, {});
    ASSERT_EQ(assessment.devices.size(), 1U);
    const auto& cpu = assessment.devices.front();
    EXPECT_EQ(cpu.classification.memory_class, none);
    EXPECT_EQ(cpu.classification.rule, "D1");
    EXPECT_EQ(cpu.state, kOff);
    EXPECT_EQ(cpu.soft_empty, CacheAction::nothing);
    EXPECT_TRUE(cpu.pinned_limit.is_zero());
    EXPECT_EQ(default_compute_device(assessment), kCpu);
}

}  // namespace
}  // namespace ballast::machine
