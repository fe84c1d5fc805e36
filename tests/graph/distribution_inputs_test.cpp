#include "ballast/graph/distribution_inputs.hpp"

#include <gmock/gmock.h>

namespace ballast::graph {
namespace {

using ::testing::HasSubstr;

constexpr DeviceId kGpu0{DeviceKind::cuda, 0};
constexpr DeviceId kGpu1{DeviceKind::cuda, 1};

NodeCall call(std::string class_type, const Json& inputs) {
    NodeCall made{
        .node_id = "4", .class_type = std::move(class_type), .inputs = {}, .output_is_used = {}};
    for (const auto& [name, value] : inputs.items()) made.inputs.emplace(name, value);
    return made;
}

DistributionInputs inputs_of(std::string class_type, const Json& inputs) {
    const auto read = distribution_inputs(call(std::move(class_type), inputs));
    EXPECT_TRUE(read) << to_string(read.error());
    return read.value_or(DistributionInputs{});
}

/// The allocation of a network with these inputs.
std::string allocation(double gib, const std::string& expert, const std::string& donor = "cpu") {
    return inputs_of("UNETLoaderDisTorch2MultiGPU", {{"compute_device", "cuda:0"},
                                                     {"virtual_vram_gb", gib},
                                                     {"donor_device", donor},
                                                     {"expert_mode_allocations", expert}})
        .network.allocation;
}

TEST(DistributionInputs, MakeTheFullTextOfAnAllocation) {
    EXPECT_EQ(allocation(4.0, ""), "#cuda:0;4.0;cpu");
    EXPECT_EQ(allocation(2.5, "", "cuda:1"), "#cuda:0;2.5;cuda:1");
    EXPECT_EQ(allocation(4.0, "cuda:0,2.5gb;cpu,*"), "cuda:0,2.5gb;cpu,*#cuda:0;4.0;cpu");
    EXPECT_EQ(allocation(0.0, "cuda:0,2.5gb;cpu,*"), "cuda:0,2.5gb;cpu,*#cuda:0");
    EXPECT_EQ(allocation(0.0, ""), "") << "nothing is distributed";
    EXPECT_EQ(allocation(0.0, " \t"), "") << "blanks say nothing";
}

TEST(DistributionInputs, GibHaveNoNoiseAndNoExponent) {
    EXPECT_EQ(gib_text(4), "4.0");
    EXPECT_EQ(gib_text(128), "128.0");
    EXPECT_EQ(gib_text(2.25), "2.25");
    EXPECT_EQ(gib_text(0.1 + 0.2), "0.3");
    EXPECT_EQ(gib_text(0.00001), "0.00001");
    EXPECT_EQ(allocation(1e-12, ""), "") << "less than a byte";
}

TEST(DistributionInputs, OrdinaryLoadersSayNothing) {
    EXPECT_EQ(inputs_of("UNETLoader", {{"unet_name", "a"}, {"weight_dtype", "default"}}),
              (DistributionInputs{.base_class = "UNETLoader"}));
    EXPECT_EQ(inputs_of("CLIPLoader", {{"device", "default"}}),
              (DistributionInputs{.base_class = "CLIPLoader"}))
        << "its device is no name of a device";
}

TEST(DistributionInputs, ATextEncodersLoaderCanChooseTheProcessor) {
    EXPECT_EQ(inputs_of("CLIPLoader", {{"device", "cpu"}}),
              (DistributionInputs{.base_class = "CLIPLoader", .text_encoder = {.compute = kCpu}}));
}

TEST(DistributionInputs, TheDeviceFormChoosesForTheModelThatItReads) {
    const Json second{{"device", "cuda:1"}};
    EXPECT_EQ(inputs_of("UNETLoaderMultiGPU", second),
              (DistributionInputs{.base_class = "UNETLoader", .network = {.compute = kGpu1}}));
    EXPECT_EQ(inputs_of("CLIPLoaderMultiGPU", second),
              (DistributionInputs{.base_class = "CLIPLoader", .text_encoder = {.compute = kGpu1}}));
    EXPECT_EQ(inputs_of("VAELoaderMultiGPU", second),
              (DistributionInputs{.base_class = "VAELoader", .autoencoder = {.compute = kGpu1}}));
    EXPECT_EQ(inputs_of("CheckpointLoaderSimpleMultiGPU", second),
              (DistributionInputs{.base_class = "CheckpointLoaderSimple",
                                  .network = {.compute = kGpu1},
                                  .text_encoder = {.compute = kGpu1},
                                  .autoencoder = {.compute = kGpu1}}));
}

TEST(DistributionInputs, TheDisTorch2FormAllocatesTheModelThatItReads) {
    const Json fields{{"device", "cuda:1"},
                      {"compute_device", "cuda:1"},
                      {"virtual_vram_gb", 1.0},
                      {"donor_device", "cpu"},
                      {"keep_loaded", true}};
    const PartDistribution expected{.compute = kGpu1, .allocation = "#cuda:1;1.0;cpu"};
    EXPECT_EQ(inputs_of("UNETLoaderDisTorch2MultiGPU", fields).network, expected);
    EXPECT_EQ(inputs_of("CLIPLoaderDisTorch2MultiGPU", fields).text_encoder, expected);
    EXPECT_EQ(inputs_of("VAELoaderDisTorch2MultiGPU", fields).autoencoder, expected);
}

TEST(DistributionInputs, AnAmountIsMeantOnceForACheckpointsNetwork) {
    const auto read = inputs_of(
        "CheckpointLoaderSimpleDisTorch2MultiGPU",
        {{"compute_device", "cuda:0"}, {"virtual_vram_gb", 4.0}, {"donor_device", "cuda:1"}});
    EXPECT_EQ(read.network.allocation, "#cuda:0;4.0;cuda:1");
    for (const auto& other : {read.text_encoder, read.autoencoder})
        EXPECT_EQ(other, (PartDistribution{.compute = kGpu0}));
}

TEST(DistributionInputs, TheAdvancedCheckpointSpeaksOfEachModel) {
    const auto plain =
        inputs_of("CheckpointLoaderAdvancedMultiGPU",
                  {{"unet_device", "cuda:0"}, {"clip_device", "cpu"}, {"vae_device", "cuda:1"}});
    EXPECT_EQ(plain, (DistributionInputs{.base_class = "CheckpointLoaderSimple",
                                         .network = {.compute = kGpu0},
                                         .text_encoder = {.compute = kCpu},
                                         .autoencoder = {.compute = kGpu1}}));
    const auto both = inputs_of("CheckpointLoaderAdvancedDisTorch2MultiGPU",
                                {{"unet_compute_device", "cuda:0"},
                                 {"unet_virtual_vram_gb", 4.0},
                                 {"unet_donor_device", "cuda:1"},
                                 {"clip_compute_device", "cuda:1"},
                                 {"clip_virtual_vram_gb", 0.0},
                                 {"clip_donor_device", "cpu"},
                                 {"vae_device", "cpu"},
                                 {"unet_expert_mode_allocations", ""},
                                 {"clip_expert_mode_allocations", "cuda:1,50%;cpu,50%"},
                                 {"high_precision_loras", false},
                                 {"keep_loaded", false}});
    EXPECT_EQ(both,
              (DistributionInputs{
                  .base_class = "CheckpointLoaderSimple",
                  .network = {.compute = kGpu0, .allocation = "#cuda:0;4.0;cuda:1"},
                  .text_encoder = {.compute = kGpu1, .allocation = "cuda:1,50%;cpu,50%#cuda:1"},
                  .autoencoder = {.compute = kCpu},
                  .keep_loaded = false,
                  .is_keep_loaded_said = true,
                  .high_precision_loras = false}));
}

TEST(DistributionInputs, TheLowPrecisionLoaderIsOneOfNetworks) {
    EXPECT_EQ(inputs_of("UNetLoaderLP", {{"unet_name", "a"}}),
              (DistributionInputs{.base_class = "UNETLoader", .high_precision_loras = false}));
}

TEST(DistributionInputs, RetentionIsToldWhereItIsAnInput) {
    const auto read = [](const Json& inputs) {
        return inputs_of("UNETLoaderDisTorch2MultiGPU", inputs);
    };
    EXPECT_EQ(read({}).keep_loaded, true);
    EXPECT_EQ(read({{"keep_loaded", false}}).keep_loaded, false);
    EXPECT_EQ(read({}).eject_models, std::nullopt);
    EXPECT_EQ(read({{"eject_models", true}}).eject_models, true);
    EXPECT_EQ(read({{"eject_models", true}}).keep_loaded, true)
        << "it speaks of the other models, not of this one";
    EXPECT_EQ(inputs_of("UNETLoaderMultiGPU", {}).keep_loaded, std::nullopt)
        << "as with ordinary loaders";
}

TEST(DistributionInputs, ADefaultOfRetentionIsNotTheUsersWord) {
    using residency::Retention;
    auto made = call("UNETLoaderDisTorch2MultiGPU", {{"keep_loaded", true}});
    const auto flag = [](const DistributionInputs& inputs, residency::RetentionWishes wishes = {}) {
        return retention_of(inputs, wishes, "sd.safetensors (unet)", "/models/sd.safetensors");
    };
    EXPECT_EQ(flag(*distribution_inputs(made)),
              (residency::RetentionFlag{.value = Retention::keep, .is_said = true}));
    made.defaults.insert("keep_loaded");
    EXPECT_EQ(flag(*distribution_inputs(made)),
              (residency::RetentionFlag{.value = Retention::keep, .is_said = false}));
    const auto ordinary = *distribution_inputs(call("UNETLoader", {}));
    EXPECT_EQ(flag(ordinary).value, Retention::release);
    EXPECT_EQ(flag(ordinary, {.by_default = Retention::keep}),
              (residency::RetentionFlag{.value = Retention::keep, .is_said = false}));
    for (const auto* name : {"sd.safetensors (unet)", "sd.safetensors", "/models/sd.safetensors"})
        EXPECT_EQ(flag(ordinary, {.kept = {name}}),
                  (residency::RetentionFlag{.value = Retention::keep, .is_said = true}))
            << name;
    EXPECT_EQ(flag(ordinary, {.kept = {"sd.safetensors (vae)"}}).value, Retention::release);
}

TEST(DistributionInputs, WhatIsNoDeviceIsRefusedWithItsPlace) {
    for (const auto* name : {"gpu0", "cuda:x", "disk"}) {
        const auto read = distribution_inputs(call("VAELoaderMultiGPU", {{"device", name}}));
        ASSERT_FALSE(read) << name;
        EXPECT_EQ(read.error().place.key, "device");
        EXPECT_EQ(read.error().place.node, "4");
        EXPECT_THAT(read.error().why, HasSubstr(name));
    }
}

}  // namespace
}  // namespace ballast::graph
