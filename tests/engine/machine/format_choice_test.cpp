#include "ballast/engine/machine/format_choice.hpp"

#include <gtest/gtest.h>

namespace ballast::machine {
namespace {

using namespace ballast::literals;
using enum NumberFormat;
using Formats = std::vector<NumberFormat>;

const Formats kHalfFirst{fp16, bf16, fp32};
const Formats kBrainFirst{bf16, fp16, fp32};
const Formats kBrainOnly{bf16, fp32};

/// A card of 24 GiB under Linux.
FormatQuestion card(const char* capability, FormatOptions options = {}) {
    FormatQuestion question;
    question.device.id = {DeviceKind::cuda, 0};
    question.device.vendor = "nvidia";
    question.device.capability = capability;
    question.device.total = 24_GiB;
    question.options = std::move(options);
    question.max_weights = max_weights(question.device, 1'278'423'859.2);
    return question;
}

FormatQuestion processor(FormatOptions options = {}) {
    FormatQuestion question;
    question.device.id = kCpu;
    question.options = std::move(options);
    return question;
}

WeightsFile file(Formats supported, std::optional<NumberFormat> majority = {},
                 std::optional<double> params = 1e9) {
    return {.params = params,
            .supported = std::move(supported),
            .majority = majority,
            .from_loader = {}};
}

TEST(StoredFormat, IsWhatTheLoaderSays) {
    auto said = file(kHalfFirst, fp16);
    said.from_loader = fp8_e5m2;
    EXPECT_EQ(stored_format(card("8.6", {.unet = "fp32"}), said), fp8_e5m2);
}

TEST(StoredFormat, IsWhatTheOptionSays) {
    for (const auto format : {fp32, fp64, bf16, fp16, fp8_e4m3fn, fp8_e5m2, fp8_e8m0fnu}) {
        const FormatOptions options{.unet = std::string(to_string(format))};
        EXPECT_EQ(stored_format(card("8.6", options), file(kHalfFirst)), format);
    }
    EXPECT_EQ(stored_format(card("8.6", {.force_fp16 = true}), file(kBrainOnly)), fp16);
    EXPECT_EQ(stored_format(card("8.6", {.force_fp16 = true, .unet = "bf16"}), file(kHalfFirst)),
              bf16);
}

TEST(StoredFormat, KeepsFp8WhereItIsFastOrNothingElseFits) {
    for (const auto format : {fp8_e4m3fn, fp8_e5m2, fp8_e8m0fnu}) {
        EXPECT_EQ(stored_format(card("8.9"), file(kBrainFirst, format)), format);
        EXPECT_EQ(stored_format(card("8.6"), file(kBrainFirst, format)), bf16);
        EXPECT_EQ(stored_format(card("8.6"), file(kBrainFirst, format, {})), format)
            << "unknown size";
    }
    EXPECT_EQ(
        stored_format(card("8.6", {.supports_fp8_compute = true}), file(kBrainFirst, fp8_e4m3fn)),
        fp8_e4m3fn);
}

TEST(StoredFormat, KeepsFp8OfTwelveBillionParametersOn24Gib) {
    const auto ampere = card("8.6");
    EXPECT_NEAR(ampere.max_weights, 21'399'003'463.7, 0.05);
    EXPECT_EQ(stored_format(ampere, file(kBrainFirst, fp8_e4m3fn, 12e9)), fp8_e4m3fn);
    EXPECT_EQ(compute_format(ampere, fp8_e4m3fn, kBrainFirst), bf16);
    EXPECT_EQ(stored_format(ampere, file(kBrainFirst, fp8_e4m3fn, 10.6e9)), bf16);
}

TEST(StoredFormat, PrefersTheFilesOwnFp16) {
    EXPECT_EQ(stored_format(card("8.6"), file(kBrainFirst, fp16)), fp16);
    EXPECT_EQ(stored_format(card("8.6"), file(kBrainFirst, bf16)), bf16);
    EXPECT_EQ(stored_format(card("8.6"), file(kBrainOnly, fp16)), bf16);
    EXPECT_EQ(stored_format(card("8.6", {.fast_fp16_accumulation = true}), file(kBrainFirst)),
              fp16);
    EXPECT_EQ(stored_format(card("8.6", {.fast_fp16_accumulation = true}), file(kBrainOnly)), bf16);
}

TEST(StoredFormat, TakesTheFirstSupportedThatIsUsable) {
    EXPECT_EQ(stored_format(card("8.6"), file(kHalfFirst)), fp16);
    EXPECT_EQ(stored_format(card("8.6"), file(kBrainFirst)), bf16);
    EXPECT_EQ(stored_format(card("7.0"), file(kBrainFirst)), fp16);
    EXPECT_EQ(stored_format(processor(), file(kHalfFirst, fp16)), fp32);
    EXPECT_EQ(stored_format(card("8.6", {.force_fp32 = true}), file(kHalfFirst)), fp32);
}

TEST(StoredFormat, TriesManualCastBeforeFp32) {
    auto pascal = card("6.1");
    pascal.device.types = {"fp16", "bf16"};
    EXPECT_EQ(stored_format(pascal, file(kHalfFirst)), fp32) << "fits in 32 bits";
    EXPECT_EQ(stored_format(pascal, file(kHalfFirst, {}, 12e9)), fp16);
    EXPECT_EQ(stored_format(pascal, file(kBrainOnly, {}, 12e9)), bf16);
    EXPECT_EQ(stored_format(card("5.2"), file(kHalfFirst, {}, 12e9)), fp32);
}

TEST(StoredFormat, LooksAtTheFileAloneForSizeAndCast) {
    auto question = card("6.1");
    question.params = 1e12;
    question.manual_cast = true;
    question.prioritise_performance = false;
    EXPECT_EQ(stored_format(question, file(kHalfFirst)), fp32);
}

TEST(ComputeFormat, FollowsTheTableRowByRow) {
    const FormatOptions fast{.fast_fp16_accumulation = true};
    const struct {
        const char* row;
        FormatQuestion where;
        std::optional<NumberFormat> stored;
        Formats supported;
        std::optional<NumberFormat> compute;
    } cases[] = {
        {"1", card("8.6"), fp32, kHalfFirst, {}},
        {"1, 64 bits", card("8.6"), fp64, kHalfFirst, {}},
        {"2", card("7.0"), fp16, kBrainOnly, {}},
        {"2, not usable", processor(), fp16, kHalfFirst, fp32},
        {"3", card("8.6"), bf16, kHalfFirst, {}},
        {"3, not usable", card("7.0"), bf16, kBrainFirst, fp16},
        {"4", card("8.6", fast), fp8_e4m3fn, kBrainFirst, fp16},
        {"4, not supported", card("8.6", fast), fp8_e4m3fn, kBrainOnly, bf16},
        {"4, not usable", card("5.2", fast), fp8_e4m3fn, kBrainFirst, fp32},
        {"5, fp16", card("8.6"), fp8_e5m2, kHalfFirst, fp16},
        {"5, bf16", card("8.6"), fp8_e5m2, kBrainFirst, bf16},
        {"5, second choice", card("7.0"), fp8_e8m0fnu, kBrainFirst, fp16},
        {"6", card("7.0"), fp8_e4m3fn, kBrainOnly, fp32},
        {"quantised by layer", card("8.6"), {}, kBrainFirst, bf16},
        {"quantised by layer, fast", card("8.6", fast), {}, kBrainFirst, fp16},
        {"quantised by layer, processor", processor(), {}, kBrainFirst, fp32},
    };
    for (const auto& c : cases)
        EXPECT_EQ(compute_format(c.where, c.stored, c.supported), c.compute) << "row " << c.row;
}

TEST(ControlNetFormat, IsNeverFp8) {
    EXPECT_EQ(control_net_format(card("8.9"), file(kHalfFirst, fp8_e4m3fn, {})), fp16);
    EXPECT_EQ(control_net_format(card("8.9", {.unet = "fp8_e5m2"}), file(kHalfFirst)), fp16);
    EXPECT_EQ(control_net_format(card("8.9", {.unet = "fp32"}), file(kHalfFirst)), fp32);
    EXPECT_EQ(control_net_format(card("8.9"), file(kBrainFirst, fp16)), fp16);
    auto said = file(kHalfFirst);
    said.from_loader = fp8_e4m3fn;
    EXPECT_EQ(control_net_format(card("8.9"), said), fp16);
    said.from_loader = bf16;
    EXPECT_EQ(control_net_format(card("8.9"), said), bf16);
}

TEST(TextEncoderFormat, IsFp16UnlessSaid) {
    EXPECT_EQ(text_encoder_format({}), fp16);
    EXPECT_EQ(text_encoder_format({.force_fp32 = true}), fp16);
    for (const auto format : {fp8_e4m3fn, fp8_e5m2, fp16, fp32, bf16})
        EXPECT_EQ(text_encoder_format({.text_encoder = std::string(to_string(format))}), format);
}

TEST(VaeFormat, IsTheFirstUsableOfItsOwnList) {
    EXPECT_EQ(vae_format(card("8.6"), kBrainOnly), bf16);
    EXPECT_EQ(vae_format(card("8.6"), kHalfFirst), fp16);
    EXPECT_EQ(vae_format(card("7.0"), kBrainFirst), fp16);
    EXPECT_EQ(vae_format(card("7.0"), kBrainOnly), fp32);
    EXPECT_EQ(vae_format(processor(), kHalfFirst), fp32);
    for (const auto format : {fp16, fp32, bf16})
        EXPECT_EQ(vae_format(processor({.vae = std::string(to_string(format))}), kBrainOnly),
                  format);
}

TEST(PatchFormat, IsFp16WhereUsable) {
    EXPECT_EQ(patch_format(card("8.6")), fp16);
    EXPECT_EQ(patch_format(card("6.1")), fp32);
    EXPECT_EQ(patch_format(processor()), fp32);
}

TEST(CastableAndComputable, FollowTheDevice) {
    const struct {
        DeviceKind device;
        Formats castable;
        Formats computable;
    } rows[] = {
        {DeviceKind::cpu, {fp32, fp16, bf16, fp8_e4m3fn, fp8_e5m2}, {fp32}},
        {DeviceKind::cuda, {fp32, fp16, bf16, fp8_e4m3fn, fp8_e5m2}, {fp32, fp16, bf16}},
        {DeviceKind::directml, {fp32, fp16}, {fp32, fp16, bf16}},
        {DeviceKind::mps, {fp32, fp16, bf16}, {fp32, fp16, bf16}},
    };
    for (const auto& row : rows) {
        Formats castable;
        Formats computable;
        for (const auto format : {fp32, fp16, bf16, fp8_e4m3fn, fp8_e5m2, fp64, fp8_e8m0fnu}) {
            if (is_castable(row.device, format)) castable.push_back(format);
            if (is_computable(row.device, format)) computable.push_back(format);
        }
        EXPECT_EQ(castable, row.castable);
        EXPECT_EQ(computable, row.computable);
    }
}

TEST(PickWeightFormat, NeverWidensAndNeverTakesWhatCannotBeCast) {
    const auto cuda = DeviceKind::cuda;
    EXPECT_EQ(pick_weight_format({}, fp16, cuda), fp16);
    EXPECT_EQ(pick_weight_format(fp32, fp16, cuda), fp16);
    EXPECT_EQ(pick_weight_format(bf16, fp16, cuda), bf16);
    EXPECT_EQ(pick_weight_format(fp8_e4m3fn, fp16, cuda), fp8_e4m3fn);
    EXPECT_EQ(pick_weight_format(fp8_e8m0fnu, fp16, cuda), fp16);
    EXPECT_EQ(pick_weight_format(fp8_e4m3fn, fp16, DeviceKind::mps), fp16);
}

}  // namespace
}  // namespace ballast::machine
