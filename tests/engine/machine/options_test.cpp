#include "ballast/engine/machine/options.hpp"

#include <gtest/gtest.h>

#include "ballast/engine/core/settings.hpp"

namespace ballast::machine {
namespace {

Result<MemoryOptions> options_of(const std::vector<GivenSetting>& given,
                                 CommandMask command = kDevicesCommand) {
    const auto settings = resolve_settings({.command = command, .command_line = given});
    if (!settings) return fail(settings.error());
    return memory_options(*settings);
}

GivenSetting flag(SettingName name) { return {name, {"true"}}; }

TEST(MemoryOptions, NothingSaidIsTheDefault) {
    const auto options = options_of({});
    ASSERT_TRUE(options.has_value());
    EXPECT_EQ(*options, MemoryOptions{});
}

TEST(MemoryOptions, ComfyUisFlagsAreReadByTheirNames) {
    EXPECT_EQ(options_of({flag("lowvram")})->vram, VramFlag::low);
    EXPECT_EQ(options_of({flag("novram")})->vram, VramFlag::none);
    EXPECT_EQ(options_of({flag("highvram")})->vram, VramFlag::high);
    EXPECT_EQ(options_of({flag("gpu-only")})->vram, VramFlag::gpu_only);
    EXPECT_EQ(options_of({flag("normalvram")})->vram, VramFlag::normal);
    EXPECT_EQ(options_of({flag("cpu")})->vram, VramFlag::cpu);
    EXPECT_TRUE(options_of({flag("cpu-vae")})->vae_on_cpu);
    EXPECT_FALSE(options_of({flag("disable-smart-memory")})->smart_memory);
    EXPECT_FALSE(options_of({flag("disable-pinned-memory")})->pinned_memory);
    EXPECT_TRUE(options_of({flag("force-fp16")})->formats.force_fp16);
    EXPECT_EQ(options_of({flag("fp8_e4m3fn-unet")})->formats.unet, "fp8_e4m3fn");
    EXPECT_EQ(options_of({flag("bf16-vae")})->formats.vae, "bf16");
    EXPECT_EQ(options_of({flag("fp16-text-enc")})->formats.text_encoder, "fp16");
    EXPECT_EQ(options_of({{"async-offload", {"4"}}})->streams, 4);
    EXPECT_EQ(options_of({{"async-offload", {"4"}}, flag("disable-async-offload")})->streams, 0);
    EXPECT_EQ(options_of({{"cuda-device", {"1"}}})->only_device, 1);
}

TEST(MemoryOptions, VramFlagsExcludeOneAnother) {
    for (const auto* first : {"lowvram", "novram", "highvram", "gpu-only", "normalvram", "cpu"})
        for (const auto* second :
             {"lowvram", "novram", "highvram", "gpu-only", "normalvram", "cpu"}) {
            if (std::string_view(first) == second) continue;
            const auto both = options_of({flag(*find_setting(first)), flag(*find_setting(second))});
            ASSERT_FALSE(both.has_value()) << first << " " << second;
            EXPECT_EQ(both.error().code, Code::usage);
        }
}

TEST(MemoryOptions, AReserveIsGibOrASizeOrAShare) {
    const auto reserve = [](const char* text) {
        return options_of({{"reserve-vram", {text}}})->reserve;
    };
    EXPECT_EQ(reserve("2.5"), Reserve(Bytes{2684354560}));
    EXPECT_EQ(reserve("0"), Reserve(Bytes{}));
    EXPECT_EQ(reserve("800mb"), Reserve(Bytes{800ULL << 20U}));
    EXPECT_EQ(reserve("12.5%"), Reserve(Percent{12.5}));
    for (const auto* text : {"-1", "101%", "-1%", "%", "much", "1e9", "nan", "inf", "2,5", ""})
        EXPECT_FALSE(options_of({{"reserve-vram", {text}}}).has_value()) << text;
}

TEST(MemoryOptions, ClassesAreSaidForEachDevice) {
    const auto options =
        options_of({{"memory-class", {"cuda:0=unified", "cuda:1=discrete", "xpu:0=auto"}}});
    ASSERT_TRUE(options.has_value());
    EXPECT_EQ(options->classes.size(), 2U);
    EXPECT_EQ(options->classes.at({DeviceKind::cuda, 0}), ClassOverride::unified);
    EXPECT_EQ(options->classes.at({DeviceKind::cuda, 1}), ClassOverride::discrete);
    for (const auto* text : {"unified", "cuda:0=", "cuda:0=shared", "gpu=unified", "=unified"})
        EXPECT_FALSE(options_of({{"memory-class", {text}}}).has_value()) << text;
    EXPECT_FALSE(options_of({{"memory-class", {"cuda:0=unified", "cuda=discrete"}}}).has_value());
}

TEST(MemoryOptions, LimitsMayNameAnyDevice) {
    const auto options = options_of({{"memory-limit", {"cuda:1=8gb", "cpu=4gb"}}});
    ASSERT_TRUE(options.has_value());
    EXPECT_EQ(options->limits.at({DeviceKind::cuda, 1}).count(), 8ULL << 30U);
}

TEST(MemoryOptions, WhatARunCannotDoYetIsSaid) {
    EXPECT_EQ(options_of({flag("force-fp32")}, kRunCommand).error().code, Code::not_available);
    EXPECT_TRUE(options_of({flag("lowvram")}, kRunCommand).has_value());
}

}  // namespace
}  // namespace ballast::machine
