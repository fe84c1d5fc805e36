#include "ballast/engine/machine/placement.hpp"

#include <gtest/gtest.h>

#include "tests/engine/machine/machines.hpp"

namespace ballast::machine {
namespace {

const DeviceId kGpu{DeviceKind::cuda, 0};

DeviceAssessment card(MemoryOptions options = {}, double free = 23, double host_free = 10) {
    auto profile = machine_with(host_of(64, host_free), nvidia("NVIDIA Card", 24, false));
    profile.devices[0].free = gib(free);
    return judged(profile, options);
}

TEST(VramState, FollowsTheFlags) {
    EXPECT_EQ(card().state, VramState::normal);
    EXPECT_EQ(card({.vram = VramFlag::low}).state, VramState::low);
    EXPECT_EQ(card({.vram = VramFlag::none}).state, VramState::no_vram);
    EXPECT_EQ(card({.vram = VramFlag::high}).state, VramState::high);
    EXPECT_EQ(card({.vram = VramFlag::gpu_only}).state, VramState::high);
    EXPECT_EQ(card({.vram = VramFlag::cpu}).state, VramState::disabled);
}

TEST(VramState, AUsersLowAndNoVramStandOnOnePool) {
    const auto spark = [](VramFlag flag) {
        return judged(machine_with(host_of(121, 110), nvidia("NVIDIA GB10", 121, true, true)),
                      {.vram = flag});
    };
    EXPECT_EQ(spark(VramFlag::low).state, VramState::low);
    EXPECT_EQ(spark(VramFlag::none).state, VramState::no_vram);
    EXPECT_EQ(spark(VramFlag::normal).state, VramState::high);
    EXPECT_EQ(spark(VramFlag::low).placement.text_encoder, kCpu);
    EXPECT_EQ(spark(VramFlag::low).placement.unet_offload, kGpu) << "nothing is copied";
    EXPECT_EQ(spark(VramFlag::none).placement.unet_initial, kCpu);
}

TEST(VramState, DirectMlLoadsInPartOnlyWhenTold) {
    const auto directml = [](VramFlag flag) {
        return judged(machine_with(host_of(32, 30),
                                   of_kind(DeviceKind::directml, "microsoft", 1, std::nullopt),
                                   System::windows),
                      {.vram = flag})
            .state;
    };
    EXPECT_EQ(directml(VramFlag::none), VramState::normal);
    EXPECT_EQ(directml(VramFlag::low), VramState::low);
}

TEST(Placement, IsTheTableOfStates) {
    struct Row {
        VramFlag flag;
        DeviceId unet_offload, unet_initial, text_encoder, vae;
    };
    for (const auto& row :
         {Row{VramFlag::none, kCpu, kCpu, kCpu, kGpu}, Row{VramFlag::low, kCpu, kGpu, kCpu, kGpu},
          Row{VramFlag::normal, kCpu, kGpu, kGpu, kGpu},
          Row{VramFlag::high, kGpu, kGpu, kGpu, kGpu},
          Row{VramFlag::cpu, kCpu, kCpu, kCpu, kCpu}}) {
        const auto placement = card({.vram = row.flag}).placement;
        EXPECT_EQ(placement.unet_offload, row.unet_offload);
        EXPECT_EQ(placement.unet_initial, row.unet_initial);
        EXPECT_EQ(placement.text_encoder, row.text_encoder);
        EXPECT_EQ(placement.vae, row.vae);
        EXPECT_EQ(placement.text_encoder_offload, kCpu);
        EXPECT_EQ(placement.vae_offload, kCpu);
        EXPECT_EQ(placement.intermediate, kCpu);
    }
}

TEST(Placement, GpuOnlyKeepsEverythingThere) {
    const auto placement = card({.vram = VramFlag::gpu_only}).placement;
    for (const auto place : {placement.unet_offload, placement.unet_initial, placement.text_encoder,
                             placement.text_encoder_offload, placement.vae, placement.vae_offload,
                             placement.intermediate})
        EXPECT_EQ(place, kGpu);
}

TEST(Placement, CpuVaeMovesTheAutoencoder) {
    EXPECT_EQ(card({.vae_on_cpu = true}).placement.vae, kCpu);
    EXPECT_EQ(card({.vram = VramFlag::gpu_only, .vae_on_cpu = true}).placement.vae, kCpu);
}

TEST(Placement, TextEncodersAvoidCardsWithoutFp16) {
    auto profile = machine_with(host_of(16, 10), nvidia("NVIDIA GeForce GTX 1660", 6, false));
    profile.devices[0].capability = "7.5";
    EXPECT_EQ(judged(profile).placement.text_encoder, kCpu);
    EXPECT_EQ(judged(profile, {.vram = VramFlag::gpu_only}).placement.text_encoder, kGpu);
}

TEST(Placement, MetalRunsNetworksButNotTextEncoders) {
    const auto placement =
        judged(machine_with(host_of(64, 60), of_kind(DeviceKind::mps, "apple", 64, true),
                            System::macos))
            .placement;
    const DeviceId mps{DeviceKind::mps, 0};
    EXPECT_EQ(placement.unet_initial, mps);
    EXPECT_EQ(placement.unet_offload, kCpu);
    EXPECT_EQ(placement.text_encoder, kCpu);
    EXPECT_EQ(placement.vae, mps);
}

TEST(UnetInitialDevice, IsTheCardWhenMoreIsFreeThereAndItFits) {
    EXPECT_EQ(card({}, 12, 10).placement.unet_initial, kGpu);
    EXPECT_EQ(card({}, 8, 10).placement.unet_initial, kCpu);
    EXPECT_EQ(card({.smart_memory = false}, 12, 10).placement.unet_initial, kCpu);
    EXPECT_EQ(card({.vram = VramFlag::high, .smart_memory = false}).placement.unet_initial, kGpu);

    const auto profile = machine_with(host_of(64, 10), nvidia("NVIDIA Card", 24, false));
    const MemoryOptions options;
    const DeviceQuestion memory{.device = profile.devices[0],
                                .host = profile.host,
                                .options = options,
                                .memory_class = MemoryClass::discrete};
    const PlacementQuestion question{
        .memory = memory, .device_free = gib(12), .host_free = gib(10)};
    EXPECT_EQ(unet_initial_device(question, gib(11.9)), kGpu);
    EXPECT_EQ(unet_initial_device(question, gib(12)), kCpu) << "strictly less than free";
}

TEST(TextEncoderInitialDevice, FollowsTheRule) {
    EXPECT_EQ(text_encoder_initial_device(kGpu, kGpu, gib(9), gib(20), gib(20)), kGpu);
    EXPECT_EQ(text_encoder_initial_device(kGpu, kCpu, gib(1), gib(20), gib(20)), kCpu) << "small";
    EXPECT_EQ(text_encoder_initial_device({DeviceKind::mps, 0}, kCpu, gib(9), gib(1), gib(20)),
              (DeviceId{DeviceKind::mps, 0}));
    EXPECT_EQ(text_encoder_initial_device(kGpu, kCpu, gib(9), gib(11), gib(20)), kGpu);
    EXPECT_EQ(text_encoder_initial_device(kGpu, kCpu, gib(9), gib(10), gib(20)), kCpu)
        << "not above half of the host's";
    EXPECT_EQ(text_encoder_initial_device(kGpu, kCpu, gib(10), gib(12), gib(20)), kCpu)
        << "1.2 times its size is not free";
    EXPECT_EQ(text_encoder_initial_device(kGpu, kCpu, gib(9), std::nullopt, gib(20)), kCpu);
}

TEST(IntermediateDevice, LargeResultsOfAPoolBecomeOneHostAllocation) {
    const auto profile = machine_with(host_of(121, 100), nvidia("NVIDIA GB10", 121, true, true));
    const MemoryOptions options;
    const DeviceQuestion memory{.device = profile.devices[0],
                                .host = profile.host,
                                .options = options,
                                .memory_class = MemoryClass::unified};
    const PlacementQuestion question{
        .memory = memory, .state = VramState::high, .device_free = gib(100)};
    EXPECT_EQ(intermediate_device(question, gib(25)), kGpu);
    EXPECT_EQ(intermediate_device(question, gib(25.1)), kCpu);
}

TEST(Assessment, DevicesCanBeHiddenAndMovedToTheFront) {
    auto profile = machine_with(host_of(64, 60), nvidia("A", 24, false));
    for (int index : {1, 2}) {
        profile.devices.push_back(nvidia("B", 12, false));
        profile.devices.back().id.index = index;
    }
    const auto ids = [&](MemoryOptions options) {
        std::string text;
        for (const auto& device : assess(profile, options).devices)
            text += to_string(device.id) + " ";
        return text;
    };
    EXPECT_EQ(ids({}), "cpu cuda:0 cuda:1 cuda:2 ");
    EXPECT_EQ(ids({.only_device = 1}), "cpu cuda:1 ");
    EXPECT_EQ(ids({.first_device = 2}), "cpu cuda:2 cuda:0 cuda:1 ");
    EXPECT_EQ(default_compute_device(assess(profile, {.first_device = 2})),
              (DeviceId{DeviceKind::cuda, 2}));
    EXPECT_FALSE(assess(profile, {.only_device = 7}).warnings.empty());
}

TEST(Assessment, KindsWithoutABackendAreListedAndRefused) {
    for (const auto kind :
         {DeviceKind::npu, DeviceKind::mlu, DeviceKind::directml, DeviceKind::corex}) {
        const auto assessment =
            assess(machine_with(host_of(64, 60), of_kind(kind, "vendor", 32, std::nullopt)), {});
        EXPECT_FALSE(assessment.devices.at(1).cannot_store.empty());
        EXPECT_FALSE(assessment.warnings.empty());
        EXPECT_EQ(default_compute_device(assessment), kCpu);
    }
}

TEST(CacheAction, OnOnePoolPressureReleases) {
    const auto soft = [](double available, Bytes cached) {
        return cache_action({.memory_class = MemoryClass::unified,
                             .available = gib(available),
                             .reserve = gib(8),
                             .cached = cached});
    };
    EXPECT_EQ(soft(16, gib(4)), CacheAction::synchronise);
    EXPECT_EQ(soft(15.9, gib(4)), CacheAction::release);
    EXPECT_EQ(soft(15.9, gib(0.25)), CacheAction::release);
    EXPECT_EQ(soft(15.9, gib(0.249)), CacheAction::synchronise);
    EXPECT_EQ(cache_action({.memory_class = MemoryClass::unified, .call = EmptyingCall::forced}),
              CacheAction::release);
}

TEST(CacheAction, CardsReleaseAndTheProcessorDoesNothing) {
    for (const auto call : {EmptyingCall::soft, EmptyingCall::forced, EmptyingCall::buffer_reset}) {
        for (const auto memory_class :
             {MemoryClass::discrete, MemoryClass::coherent, MemoryClass::partitioned})
            EXPECT_EQ(cache_action({.memory_class = memory_class, .call = call}),
                      CacheAction::release);
        EXPECT_EQ(cache_action({.memory_class = MemoryClass::none, .call = call}),
                  CacheAction::nothing);
    }
}

TEST(CacheAction, AFreeEmptiesAtAQuarterExceptWhenModelsStay) {
    EXPECT_TRUE(empties_after_free(true, VramState::high, {}, gib(10)));
    EXPECT_TRUE(empties_after_free(false, VramState::normal, gib(2.6), gib(10)));
    EXPECT_FALSE(empties_after_free(false, VramState::normal, gib(2.5), gib(10)));
    EXPECT_FALSE(empties_after_free(false, VramState::high, gib(9), gib(10)));
    EXPECT_TRUE(empties_after_free(false, VramState::disabled, gib(9), gib(10)));
}

TEST(CacheAction, AReleaseIsCheckedAgainstTheSystem) {
    EXPECT_TRUE(reached_the_system(gib(10), gib(20), gib(28)));
    EXPECT_FALSE(reached_the_system(gib(10), gib(20), gib(27.9)));
    EXPECT_FALSE(reached_the_system(gib(10), gib(20), gib(15))) << "others took it meanwhile";
    EXPECT_TRUE(reached_the_system(gib(10), std::nullopt, gib(1)));
}

TEST(CacheAction, EveryKindHasItsSteps) {
    using enum EmptyingStep;
    EXPECT_EQ(emptying_steps(DeviceKind::cuda),
              (std::vector{synchronise, release_blocks, collect_shared_handles}));
    EXPECT_EQ(emptying_steps(DeviceKind::xpu), (std::vector{synchronise, release_blocks}));
    EXPECT_EQ(emptying_steps(DeviceKind::mps), std::vector{release_blocks});
    EXPECT_TRUE(emptying_steps(DeviceKind::cpu).empty());
    EXPECT_TRUE(emptying_steps(DeviceKind::directml).empty());
}

}  // namespace
}  // namespace ballast::machine
