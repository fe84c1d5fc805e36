#include "ballast/engine/machine/memory_class.hpp"

#include <gmock/gmock.h>

#include "tests/engine/machine/machines.hpp"

namespace ballast::machine {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string rule_of(const DeviceProfile& device, const HostProfile& host,
                    System system = System::gnu_linux, const MemoryOptions& options = {}) {
    const auto verdict = classify(device, host, system, options);
    return verdict.rule + " " + std::string(to_string(verdict.memory_class));
}

MemoryOptions saying(DeviceId device, ClassOverride what) { return {.classes = {{device, what}}}; }

TEST(MemoryClass, TheUserOverridesADeviceAndItIsLogged) {
    const auto card = nvidia("NVIDIA H100", 80, false);
    const auto verdict =
        classify(card, host_of(64, 60), System::gnu_linux, saying(card.id, ClassOverride::unified));
    EXPECT_EQ(verdict.memory_class, MemoryClass::unified);
    EXPECT_EQ(verdict.rule, "D0");
    EXPECT_THAT(verdict.warnings, testing::ElementsAre(HasSubstr("--memory-class")));
    EXPECT_EQ(rule_of(card, host_of(64, 60), System::gnu_linux,
                      saying(card.id, ClassOverride::automatic)),
              "D7 DISCRETE");
    EXPECT_EQ(rule_of(card, host_of(64, 60), System::gnu_linux,
                      saying({DeviceKind::cuda, 1}, ClassOverride::unified)),
              "D7 DISCRETE")
        << "an override concerns its device alone";
}

TEST(MemoryClass, AnIntegratedPartOfWindowsHasAShare) {
    const auto device = nvidia("NVIDIA RTX Spark", 100, true);
    EXPECT_EQ(rule_of(device, host_of(120, 110), System::windows), "D3 PARTITIONED");
    EXPECT_EQ(rule_of(device, host_of(120, 110), System::wsl2), "D3 PARTITIONED");
}

TEST(MemoryClass, APairOfMemoriesIsKnownByItsOwnNode) {
    auto device = nvidia("NVIDIA GH200", 480, true, true);
    EXPECT_EQ(rule_of(device, host_of(480, 470)), "D3 UNIFIED");
    device.attributes.own_memory_node = true;
    EXPECT_EQ(rule_of(device, host_of(480, 470)), "D3a COHERENT");
    device.attributes.host_page_tables = false;
    EXPECT_EQ(rule_of(device, host_of(480, 470)), "D3 UNIFIED");
}

TEST(MemoryClass, TheBoundOfD3aIsSixTenths) {
    EXPECT_EQ(rule_of(nvidia("NVIDIA X", 59.9, true, true), host_of(100, 90)), "D3a COHERENT");
    EXPECT_EQ(rule_of(nvidia("NVIDIA X", 60, true, true), host_of(100, 90)), "D3 UNIFIED");
}

TEST(MemoryClass, AnApuIsDividedByItsCarveOut) {
    auto apu = radeon("AMD Radeon Graphics", 64, true);
    apu.carveout = gib(32);
    apu.gtt = gib(32);
    EXPECT_EQ(rule_of(apu, host_of(96, 90)), "D4 UNIFIED") << "half is enough";
    apu.gtt = gib(31);
    EXPECT_EQ(rule_of(apu, host_of(96, 90)), "D4 PARTITIONED");
    apu.gtt.reset();
    apu.carveout = gib(4);
    EXPECT_EQ(rule_of(apu, host_of(96, 90)), "D4 UNIFIED") << "GTT is what the carve-out leaves";
    apu.carveout.reset();
    const auto unknown = classify(apu, host_of(96, 90), System::gnu_linux, {});
    EXPECT_EQ(unknown.memory_class, MemoryClass::partitioned) << "the side that promises less";
    EXPECT_THAT(unknown.warnings, Not(IsEmpty()));
}

TEST(MemoryClass, NamesCountAsWholeWordsAndOnlyWithTheRightSize) {
    const auto by_name = [](const char* name, double total) {
        return rule_of(silent(nvidia(name, total, false)), host_of(128, 120));
    };
    EXPECT_EQ(by_name("NVIDIA GB10", 120), "D8 UNIFIED");
    EXPECT_EQ(by_name("NVIDIA Thor", 128), "D8 UNIFIED");
    EXPECT_EQ(by_name("Orin (nvgpu)", 120), "D8 UNIFIED");
    EXPECT_EQ(by_name("NVIDIA Tegra X1", 120), "D8 UNIFIED");
    EXPECT_EQ(by_name("Xavier", 120), "D8 UNIFIED");
    EXPECT_EQ(by_name("NVIDIA GB10", 128 * 0.89), "D10 DISCRETE");
    EXPECT_EQ(by_name("NVIDIA GB10", 128 * 1.11), "D10 DISCRETE");
    EXPECT_EQ(by_name("NVIDIA GB100", 128), "D10 DISCRETE");
    EXPECT_EQ(by_name("NVIDIA GB102", 128), "D10 DISCRETE");
    EXPECT_EQ(by_name("AGB10", 128), "D10 DISCRETE");
    EXPECT_EQ(by_name("NVIDIA GB200", 186), "D9 COHERENT");
    EXPECT_EQ(by_name("NVIDIA GB300", 279), "D9 COHERENT");
    EXPECT_EQ(by_name("GH200 480GB", 96), "D9 COHERENT");
    EXPECT_EQ(by_name("Grace Something", 96), "D9 COHERENT");
    EXPECT_EQ(by_name("Graceful", 96), "D10 DISCRETE");
}

TEST(MemoryClass, AGuessByNameIsWarnedOf) {
    const auto verdict = classify(silent(nvidia("NVIDIA GB10", 121, true)), host_of(121, 110),
                                  System::gnu_linux, {});
    EXPECT_THAT(verdict.warnings, testing::ElementsAre(HasSubstr("GB10")));
}

TEST(MemoryClass, ASilentDeviceAsLargeAsTheHostGetsAHint) {
    const auto hint = [](double total) {
        return classify(silent(nvidia("Card", total, false)), host_of(100, 90), System::gnu_linux,
                        {})
            .warnings;
    };
    EXPECT_THAT(hint(100), testing::ElementsAre(HasSubstr("--memory-class cuda:0=unified")));
    EXPECT_THAT(hint(94), IsEmpty());
    EXPECT_THAT(hint(106), IsEmpty());
}

TEST(MemoryClass, AFailedQueryCountsAsUnknownWhateverTheProfileSays) {
    auto device = nvidia("NVIDIA GB10", 121, true, true);
    device.query_fails = {Query::attributes, Query::name};
    EXPECT_EQ(rule_of(device, host_of(121, 110)), "D10 DISCRETE");
}

TEST(MemoryClass, OtherKindsFollowTheFlagOfTheirDriver) {
    EXPECT_EQ(rule_of(of_kind(DeviceKind::npu, "huawei", 64, std::nullopt), host_of(64, 60)),
              "D10 DISCRETE");
    EXPECT_EQ(rule_of(of_kind(DeviceKind::xpu, "intel", 16, true), host_of(32, 30)), "D5 UNIFIED");
}

// One test for each finding of the review that the rules answer.

TEST(ReviewFindings, C1MetalIsSharedBeforeAnyOtherRule) {
    const auto metal = of_kind(DeviceKind::mps, "apple", 64, true);
    EXPECT_EQ(rule_of(metal, host_of(64, 60), System::macos), "D2 SHARED");
    const auto overridden =
        classify(metal, host_of(64, 60), System::macos, saying(metal.id, ClassOverride::unified));
    EXPECT_EQ(overridden.memory_class, MemoryClass::shared) << "nothing overwrites SHARED";
    EXPECT_THAT(overridden.warnings, testing::ElementsAre(HasSubstr("no effect")));
    for (const auto flag : {VramFlag::low, VramFlag::none, VramFlag::high, VramFlag::gpu_only}) {
        const auto device =
            judged(machine_with(host_of(64, 60), metal, System::macos), {.vram = flag});
        EXPECT_EQ(device.state, VramState::shared);
        EXPECT_EQ(device.placement.unet_offload, kCpu);
    }
}

TEST(ReviewFindings, C2MetalAlwaysReleasesItsCache) {
    for (const auto call : {EmptyingCall::soft, EmptyingCall::forced, EmptyingCall::buffer_reset})
        EXPECT_EQ(cache_action({.memory_class = MemoryClass::shared, .call = call}),
                  CacheAction::release);
}

TEST(ReviewFindings, W1TheRatioNeverDecides) {
    for (const double total : {40.0, 62.0, 64.0, 66.0, 80.0, 141.0})
        EXPECT_EQ(rule_of(nvidia("NVIDIA A100", total, false), host_of(64, 60)), "D7 DISCRETE");
    EXPECT_EQ(rule_of(nvidia("RTX 4090", 24, false), host_of(15.6, 14), System::wsl2),
              "D7 DISCRETE");
}

TEST(ReviewFindings, W2TheReserveCanBeSetInBytesAndPercent) {
    const auto spark = machine_with(host_of(32, 29), nvidia("NVIDIA GB10", 32, true, true));
    EXPECT_DOUBLE_EQ(in_gib(judged(spark).budget.reserve), 2);
    EXPECT_DOUBLE_EQ(in_gib(judged(spark, {.reserve = gib(5)}).budget.reserve), 5);
    EXPECT_NEAR(in_gib(judged(spark, {.reserve = Percent{25}}).budget.reserve), 8, 1e-6);
    EXPECT_NEAR(in_gib(*judged(spark, {.reserve = gib(5)}).budget.static_budget), 25.4, 1e-6);
}

TEST(ReviewFindings, W3NamesAreMatchedAsWholeWordsAndOnlyWhenTheDriverIsSilent) {
    EXPECT_EQ(rule_of(silent(nvidia("NVIDIA GB102", 128, false)), host_of(128, 120)),
              "D10 DISCRETE");
    EXPECT_EQ(rule_of(nvidia("NVIDIA GB10 lookalike", 128, false), host_of(128, 120)),
              "D7 DISCRETE");
    EXPECT_EQ(rule_of(silent(nvidia("Grace Hopper", 96, false)), host_of(480, 470)), "D9 COHERENT");
}

TEST(ReviewFindings, W4OnOnePoolEverythingWaitsWhereItIs) {
    const auto device =
        judged(machine_with(host_of(121.69, 117), nvidia("NVIDIA GB10", 121.69, true, true)));
    for (const auto place : {device.placement.unet_offload, device.placement.text_encoder_offload,
                             device.placement.vae_offload, device.placement.intermediate,
                             device.placement.text_encoder, device.placement.unet_initial})
        EXPECT_EQ(place, device.id);
}

TEST(ReviewFindings, I1Gb10IsUnifiedWithAndWithoutItsAttributes) {
    const auto gb10 = nvidia("NVIDIA GB10", 121.69, true, true);
    EXPECT_EQ(rule_of(gb10, host_of(121.69, 117)), "D3 UNIFIED");
    EXPECT_EQ(rule_of(silent(gb10), host_of(121.69, 117)), "D8 UNIFIED");
}

TEST(ReviewFindings, I2AUnifiedDeviceIsHighAndStreamsNothingBesideTheArithmetic) {
    const auto device =
        judged(machine_with(host_of(121.69, 117), nvidia("NVIDIA GB10", 121.69, true, true)));
    EXPECT_EQ(device.state, VramState::high);
    EXPECT_EQ(device.streams, 0);
    EXPECT_FALSE(empties_after_free(false, device.state, gib(50), gib(60)))
        << "HIGH has no flush at a quarter";
}

TEST(ReviewFindings, I3BuffersThatAreFilledAgainKeepTheirBlocks) {
    EXPECT_EQ(cache_action({.memory_class = MemoryClass::unified,
                            .call = EmptyingCall::buffer_reset,
                            .available = gib(1),
                            .reserve = gib(8),
                            .cached = gib(4)}),
              CacheAction::nothing);
}

TEST(ReviewFindings, I5Wsl2IsJudgedByAttributesNotByItsRatio) {
    for (const double host : {15.6, 24.0, 62.0})
        EXPECT_EQ(rule_of(nvidia("RTX 4090", 24, false), host_of(host, host - 1), System::wsl2),
                  "D7 DISCRETE");
}

TEST(ReviewFindings, I6TheClassCanBeSwitchedAtRunTime) {
    const auto gb10 = nvidia("NVIDIA GB10", 121.69, true, true);
    EXPECT_EQ(rule_of(gb10, host_of(121.69, 117), System::gnu_linux,
                      saying(gb10.id, ClassOverride::discrete)),
              "D0 DISCRETE");
}

}  // namespace
}  // namespace ballast::machine
