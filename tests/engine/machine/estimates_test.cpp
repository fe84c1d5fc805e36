#include "ballast/engine/machine/estimates.hpp"

#include <gtest/gtest.h>

namespace ballast::machine {
namespace {

using enum DiffusionFamily;

constexpr double kMebi = 1'048'576;

StepModel model(DiffusionFamily family, AttentionKind attention = AttentionKind::flash) {
    return {.family = family, .sizes = {}, .compute = NumberFormat::fp16, .attention = attention};
}

TEST(Area, IsSamplesTimesPlacesAndLeavesChannelsOut) {
    EXPECT_DOUBLE_EQ(area({2, 4, 128, 64}), 16'384);
    EXPECT_DOUBLE_EQ(area({1, 16, 21, 60, 104}), 131'040);
    EXPECT_DOUBLE_EQ(area({3, 64, 1024}), 3'072);
    EXPECT_DOUBLE_EQ(area({3, 64}), 3);
    EXPECT_DOUBLE_EQ(area({}), 0);
    EXPECT_GT(area({1 << 30, 4, 1 << 30, 1 << 30}), 1e27) << "nothing wraps around";
}

TEST(StepEstimate, CountsBytesOfTheComputeFormatUnderFlashAttention) {
    const Shape input{1, 4, 128, 128};
    EXPECT_NEAR(step_estimate(model(sdxl), input), 274'877'906.944, 1e-3);
    auto in_fp32 = model(sdxl);
    in_fp32.compute = NumberFormat::fp32;
    EXPECT_NEAR(step_estimate(in_fp32, input), 549'755'813.888, 1e-3);
    in_fp32.compute.reset();
    EXPECT_NEAR(step_estimate(in_fp32, input), 549'755'813.888, 1e-3) << "unknown: four bytes";
}

TEST(StepEstimate, IsTheSameForAllFormatsUnderOtherAttention) {
    const Shape input{1, 4, 128, 128};
    auto slow = model(sdxl, AttentionKind::other);
    EXPECT_NEAR(step_estimate(slow, input), 2'061'584'302.08, 1e-2);
    slow.compute = NumberFormat::fp32;
    EXPECT_NEAR(step_estimate(slow, input), 2'061'584'302.08, 1e-2);
}

TEST(StepEstimate, UsesSizesOfTheNetwork) {
    auto wan14 = model(wan);
    wan14.sizes.dim = 5120;
    EXPECT_DOUBLE_EQ(step_estimate(wan14, {1, 16, 21, 60, 104}),
                     131'040 * 2 * 0.01 * (5120.0 / 2222.0) * kMebi);
}

TEST(StepEstimate, AddsConditioningThatTheFamilyAttendsTo) {
    const Shape input{1, 16, 8, 8};  // 64 places
    const ConditioningShapes references{{"ref_latents", {{1, 16, 36}, {1, 16, 100}}}};
    const struct {
        DiffusionFamily family;
        double places;
    } rows[] = {{flux, 200},       {flux_inpaint, 200}, {flux2, 200}, {omnigen2, 200},
                {qwen_image, 200}, {sdxl, 64},          {wan, 64},    {wan_s2v, 64}};
    for (const auto& row : rows)
        EXPECT_DOUBLE_EQ(step_estimate(model(row.family), input, references),
                         row.places * 2 * 0.01 * memory_factor(row.family) * kMebi)
            << to_string(row.family);
}

TEST(StepEstimate, CountsMotionOfSpeechToVideoAsOneAndAHalfFrames) {
    const Shape input{1, 16, 2, 8, 8};  // 128 places
    const auto places = [&](const ConditioningShapes& conditioning) {
        return step_estimate(model(wan_s2v), input, conditioning) / (2 * 0.01 * 2.0 * kMebi);
    };
    EXPECT_NEAR(places({{"reference_latent", {{1, 16, 1, 8, 8}}}}), 192, 1e-9);
    EXPECT_NEAR(places({{"reference_motion", {{2, 16, 19, 8, 8}}}}), 128 + 2 * 1.5 * 64, 1e-9);
    EXPECT_NEAR(places({{"c_crossattn", {{1, 512, 4096}}}}), 128, 1e-9);
}

TEST(ReferenceLatents, CountAsOneShape) {
    EXPECT_EQ(reference_latents_shape({{1, 16, 4, 9}, {1, 16, 10, 10}}), (Shape{1, 16, 136}));
    EXPECT_EQ(reference_latents_shape({}), (Shape{1, 16, 0}));
}

TEST(SamplingMemory, AsksForBothSidesAndIsContentWithOne) {
    const auto memory = sampling_memory(model(sdxl), {1, 4, 128, 128});
    EXPECT_NEAR(memory.required, 549'755'813.888, 1e-3);
    EXPECT_NEAR(memory.minimum, 274'877'906.944, 1e-3);
}

TEST(SamplingMemory, CountsAllConditioningForTheFirstAndTheLargestForTheSecond) {
    const ConditioningShapes references{{"ref_latents", {{1, 16, 36}, {1, 16, 100}, {1, 16, 9}}}};
    const auto memory = sampling_memory(model(flux), {1, 16, 8, 8}, references);
    EXPECT_DOUBLE_EQ(memory.required, (128 + 145) * 2 * 0.01 * 3.1 * kMebi);
    EXPECT_DOUBLE_EQ(memory.minimum, (64 + 100) * 2 * 0.01 * 3.1 * kMebi);
}

TEST(SamplingMemory, OfAControlLoraGrowsByItsParameters) {
    EXPECT_DOUBLE_EQ(control_lora_memory(1e9, NumberFormat::fp16), 2e9);
    EXPECT_DOUBLE_EQ(control_lora_memory(1e9, std::nullopt), 4e9);
}

TEST(AttentionOf, IsFlashWhereTheVendorHasIt) {
    using enum BuiltinAttention;
    const struct {
        DeviceKind kind;
        const char* vendor;
        bool automatic;
        bool on;
    } rows[] = {
        {DeviceKind::cuda, "nvidia", true, true}, {DeviceKind::cuda, "amd", false, true},
        {DeviceKind::xpu, "intel", true, true},   {DeviceKind::npu, "", true, true},
        {DeviceKind::mlu, "", true, true},        {DeviceKind::corex, "", true, true},
        {DeviceKind::cpu, "", false, false},      {DeviceKind::mps, "apple", false, false},
        {DeviceKind::directml, "", false, false},
    };
    for (const auto& row : rows) {
        DeviceProfile device;
        device.id = {row.kind, 0};
        device.vendor = row.vendor;
        const auto is_flash = [&](BuiltinAttention builtin) {
            return attention_of(device, builtin) == AttentionKind::flash;
        };
        EXPECT_EQ(is_flash(automatic), row.automatic) << to_string(device.id) << row.vendor;
        EXPECT_EQ(is_flash(on), row.on) << to_string(device.id) << row.vendor;
        EXPECT_FALSE(is_flash(off)) << to_string(device.id) << row.vendor;
    }
}

TEST(BatchThatFits, IsAtLeastOne) {
    EXPECT_EQ(batch_that_fits(10, 3), 3);
    EXPECT_EQ(batch_that_fits(9, 3), 3);
    EXPECT_EQ(batch_that_fits(2, 3), 1);
    EXPECT_EQ(batch_that_fits(-5, 3), 1);
    EXPECT_EQ(batch_that_fits(0, 0), 1);
    EXPECT_GT(batch_that_fits(1, 0), 1'000'000'000);
}

TEST(ConditionBatchFits, NeedsHalfAsMuchAgainAndMore) {
    EXPECT_TRUE(condition_batch_fits(151, 100));
    EXPECT_FALSE(condition_batch_fits(150, 100));
    EXPECT_FALSE(condition_batch_fits(149, 100));
}

}  // namespace
}  // namespace ballast::machine
