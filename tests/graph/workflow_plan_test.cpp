// Plans of whole workflows, of the demo model under several names.

#include "ballast/graph/workflow_plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "ballast/engine/machine/profile_json.hpp"
#include "ballast/engine/residency/phase.hpp"
#include "ballast/graph/distribution_nodes.hpp"
#include "tests/graph/execution_support.hpp"
#include "tests/support/safetensors_writer.hpp"

namespace ballast::graph {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Phases = std::vector<WorkflowPhase>;

constexpr DeviceId kGpu0{DeviceKind::cuda, 0};
constexpr DeviceId kGpu1{DeviceKind::cuda, 1};

/// What one step of a phase needs on its compute device, weights included.
Bytes need(const WorkflowPhase& phase) {
    const auto& plan = phase.planned.plan;
    const auto held = residency::held_by(plan);
    const auto found = held.find(plan.compute);
    return plan.activations + (found == held.end() ? Bytes{} : found->second);
}

const WorkflowPhase& find(const Phases& phases, std::string_view name) {
    const auto found = std::ranges::find(phases, name, &WorkflowPhase::name);
    if (found == phases.end()) throw std::invalid_argument(std::string(name));
    return *found;
}

std::vector<std::string> names(const Phases& phases) {
    std::vector<std::string> list;
    for (const auto& phase : phases) list.push_back(phase.name);
    return list;
}

std::vector<std::string> names_of(const std::vector<WorkflowEviction>& evictions) {
    std::vector<std::string> list;
    for (const auto& each : evictions) list.push_back(each.name);
    return list;
}

class PlanOfAWorkflow : public ::testing::Test {
protected:
    PlanOfAWorkflow() {
        const auto demo = std::filesystem::path(BALLAST_SOURCE_DIR) /
                          "data/demo/models/checkpoints/ballast-demo.safetensors";
        for (const auto* name :
             {"models/checkpoints/sd.safetensors", "models/diffusion_models/net.safetensors",
              "models/text_encoders/words.safetensors", "models/vae/pictures.safetensors"}) {
            std::filesystem::create_directories((folder_ / name).parent_path());
            std::filesystem::create_symlink(demo, folder_ / name);
        }
        folder_.write("input/seen.png", "");
        auto profile =
            machine::load_profile(BALLAST_SOURCE_DIR "/profiles/rtx-3090-24gb-rtx-3060-12gb.json");
        if (!profile) throw std::runtime_error(to_string(profile.error()));
        machine_ = planning_machine(std::move(profile->profile), {});
        for (const auto id : {kCpu, kGpu0, kGpu1}) leave(id, Bytes{std::uint64_t{8} << 30U});
    }

    /// So much room on a device when nothing is loaded.
    void leave(DeviceId id, Bytes capacity) {
        const auto device = std::ranges::find(machine_.devices.devices, id, &plan::PlanDevice::id);
        if (device == machine_.devices.devices.end()) throw std::invalid_argument(to_string(id));
        device->capacity = capacity;
    }

    Result<Phases> planned(std::string_view changes, const std::string& allocation = {}) const {
        auto nodes = testing::json(R"({
            "4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"sd.safetensors"}},
            "5":{"class_type":"EmptyLatentImage",
                 "inputs":{"width":64,"height":64,"batch_size":1}},
            "6":{"class_type":"CLIPTextEncode","inputs":{"text":"a cat","clip":["4",1]}},
            "7":{"class_type":"CLIPTextEncode","inputs":{"text":"","clip":["4",1]}},
            "3":{"class_type":"KSampler","inputs":{"model":["4",0],"seed":1,"steps":3,"cfg":3.0,
                 "sampler_name":"euler","scheduler":"normal","positive":["6",0],
                 "negative":["7",0],"latent_image":["5",0],"denoise":1.0}},
            "8":{"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["4",2]}},
            "9":{"class_type":"SaveImage","inputs":{"images":["8",0],"filename_prefix":"p"}}})");
        nodes.merge_patch(testing::json(changes));
        const auto workflow =
            testing::valid(testing::workflow_of(nodes.dump()),
                           standard_catalogue(Devices(offered_devices(machine_))), folders_);
        return plan_workflow(workflow, folders_, machine_, {.allocation = allocation});
    }
    Phases phases(std::string_view changes = "{}", const std::string& allocation = {}) const {
        auto made = planned(changes, allocation);
        if (!made) throw std::invalid_argument(to_string(made.error()));
        return *std::move(made);
    }

    ballast::testing::TemporaryFolder folder_;
    Folders folders_{{.model_roots = {folder_ / "models"},
                      .input = folder_ / "input",
                      .output = folder_ / "output",
                      .temp = folder_ / "temp"}};
    PlanningMachine machine_;
};

TEST_F(PlanOfAWorkflow, HasAPhaseForEachModelWhenItIsFirstUsed) {
    const auto made = phases();
    EXPECT_THAT(names(made), ElementsAre("sd.safetensors (text)", "sd.safetensors (unet)",
                                         "sd.safetensors (vae)"));
    EXPECT_EQ(made[0].used_by, "7") << "as execution goes";
    EXPECT_EQ(made[1].used_by, "3");
    EXPECT_EQ(made[2].used_by, "8");
    for (const auto& phase : made) {
        EXPECT_EQ(phase.node, "4");
        EXPECT_EQ(phase.table.blocks().size(), phase.planned.plan.homes.size());
        EXPECT_TRUE(phase.planned.plan.fits);
        EXPECT_FALSE(phase.is_shape_assumed);
        EXPECT_EQ(phase.allocation, "");
    }
}

TEST_F(PlanOfAWorkflow, NobodyGoesWithoutPressure) {
    const auto made = phases();
    Bytes sum;
    for (const auto& phase : made) {
        EXPECT_THAT(phase.evicted, IsEmpty());
        EXPECT_EQ(phase.planned.plan.compute, kGpu0);
        sum += phase.table.bytes();
        EXPECT_EQ(phase.held.at(kGpu0), sum) << "all are loaded by then";
    }
}

TEST_F(PlanOfAWorkflow, OnASmallCardTheTextEncoderGoesBeforeTheNetwork) {
    const auto alone = need(find(phases(), "sd.safetensors (unet)"));
    leave(kGpu1, Bytes{});
    leave(kGpu0, alone);
    const auto made = phases();
    EXPECT_THAT(made[0].evicted, IsEmpty());
    EXPECT_THAT(names_of(made[1].evicted), ElementsAre("sd.safetensors (text)"));
    EXPECT_TRUE(made[1].planned.plan.moved.is_zero()) << "alone it fits to the byte";
    EXPECT_THAT(names_of(made[2].evicted), ElementsAre("sd.safetensors (unet)"));
    EXPECT_EQ(made[2].held.at(kGpu0), made[2].table.bytes());
}

TEST_F(PlanOfAWorkflow, WhatIsKeptMakesRoomOnlyAsTheLastResort) {
    constexpr auto kKeptTexts = R"({
        "30":{"class_type":"CLIPLoaderDisTorch2MultiGPU",
              "inputs":{"clip_name":"words.safetensors","type":"stable_diffusion",
                        "device":"cuda:0","virtual_vram_gb":0.0,"donor_device":"cpu",
                        "keep_loaded":true}},
        "6":{"inputs":{"clip":["30",0]}}, "7":{"inputs":{"clip":["30",0]}}})";
    leave(kGpu1, Bytes{});
    const auto network = find(phases(), "sd.safetensors (unet)");
    leave(kGpu0, need(network));
    const auto made = phases(kKeptTexts);
    const auto& beside = find(made, "sd.safetensors (unet)");
    EXPECT_THAT(beside.evicted, IsEmpty()) << "it can stream";
    EXPECT_FALSE(beside.planned.plan.moved.is_zero());
    EXPECT_EQ(beside.planned.plan.compute, kGpu0);
}

TEST_F(PlanOfAWorkflow, AnOldWorkflowsEjectModelsIsObeyed) {
    const auto with = [&](const char* value) {
        return phases(R"({"20":{"class_type":"UNETLoaderDisTorch2MultiGPU",
              "inputs":{"unet_name":"net.safetensors","weight_dtype":"default",
                        "compute_device":"cuda:0","virtual_vram_gb":0.0,"donor_device":"cpu",
                        "eject_models":)" +
                      std::string(value) + R"(}}, "3":{"inputs":{"model":["20",0]}}})");
    };
    EXPECT_THAT(names_of(find(with("true"), "net.safetensors (unet)").evicted),
                ElementsAre("sd.safetensors (text)"));
    EXPECT_THAT(find(with("false"), "net.safetensors (unet)").evicted, IsEmpty());
}

TEST_F(PlanOfAWorkflow, WhatHadToGoAndIsUsedAgainIsLoadedAgain) {
    constexpr auto kTwoNetworks = R"({
        "20":{"class_type":"UNETLoader",
              "inputs":{"unet_name":"net.safetensors","weight_dtype":"default"}},
        "21":{"class_type":"KSampler","inputs":{"model":["20",0],"seed":1,"steps":3,"cfg":3.0,
              "sampler_name":"euler","scheduler":"normal","positive":["6",0],"negative":["7",0],
              "latent_image":["3",0],"denoise":0.5}},
        "22":{"class_type":"KSampler","inputs":{"model":["4",0],"seed":1,"steps":3,"cfg":3.0,
              "sampler_name":"euler","scheduler":"normal","positive":["6",0],"negative":["7",0],
              "latent_image":["21",0],"denoise":0.5}},
        "8":{"inputs":{"samples":["22",0]}}})";
    const auto roomy = phases(kTwoNetworks);
    EXPECT_THAT(roomy, SizeIs(4));
    leave(kGpu1, Bytes{});
    leave(kGpu0, need(find(roomy, "sd.safetensors (unet)")));
    const auto made = phases(kTwoNetworks);
    EXPECT_THAT(names(made), ElementsAre("sd.safetensors (text)", "sd.safetensors (unet)",
                                         "net.safetensors (unet)", "sd.safetensors (unet)",
                                         "sd.safetensors (vae)"));
    EXPECT_EQ(made[3].used_by, "22");
    EXPECT_THAT(names_of(made[3].evicted), ElementsAre("net.safetensors (unet)"));
}

TEST_F(PlanOfAWorkflow, WhatWasUsedALongTimeAgoGoesFirst) {
    std::filesystem::copy_symlink(folder_ / "models/diffusion_models/net.safetensors",
                                  folder_ / "models/diffusion_models/third.safetensors");
    // the first network, a second one, the first one again, a third one
    std::string nodes;
    const auto add = [&](const char* id, const char* loader, const char* latents) {
        nodes += fmt::format(
            R"(,"{}":{{"class_type":"KSampler","inputs":{{"model":["{}",0],"seed":1,"steps":3,
                "cfg":3.0,"sampler_name":"euler","scheduler":"normal","positive":["6",0],
                "negative":["7",0],"latent_image":["{}",0],"denoise":0.5}}}})",
            id, loader, latents);
    };
    for (const auto& [id, file] : {std::pair{"20", "net"}, {"30", "third"}})
        nodes += fmt::format(
            R"(,"{}":{{"class_type":"UNETLoader",
                "inputs":{{"unet_name":"{}.safetensors","weight_dtype":"default"}}}})",
            id, file);
    add("21", "20", "3");
    add("22", "4", "21");
    add("23", "30", "22");
    const auto changes = R"({"8":{"inputs":{"samples":["23",0]}})" + nodes + "}";
    const auto roomy = phases(changes);
    leave(kGpu1, Bytes{});
    leave(kGpu0, roomy[2].held.at(kGpu0) + roomy[2].planned.plan.activations);
    const auto third = find(phases(changes), "third.safetensors (unet)");
    EXPECT_THAT(names_of(third.evicted),
                ElementsAre("sd.safetensors (text)", "net.safetensors (unet)"));
}

TEST_F(PlanOfAWorkflow, WeightsThatTwoLoadersReadAreLoadedOnce) {
    constexpr auto kTwoLoaders = R"({
        "20":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"sd.safetensors"}},
        "7":{"inputs":{"clip":["20",1]}}, "8":{"inputs":{"vae":["20",2]}}})";
    const auto made = phases(kTwoLoaders);
    EXPECT_THAT(made, SizeIs(3));
    EXPECT_EQ(made[0].node, "20") << "whose text encoder is used first";
    EXPECT_EQ(made[1].node, "4");
    const auto apart = phases(R"({
        "20":{"class_type":"CheckpointLoaderSimpleMultiGPU",
              "inputs":{"ckpt_name":"sd.safetensors","device":"cuda:1"}},
        "7":{"inputs":{"clip":["20",1]}}})");
    EXPECT_THAT(names(apart), ElementsAre("sd.safetensors (text)", "sd.safetensors (text)",
                                          "sd.safetensors (unet)", "sd.safetensors (vae)"))
        << "the same weights in two places are two";
    EXPECT_EQ(apart[0].planned.plan.compute, kGpu1);
    EXPECT_EQ(apart[1].planned.plan.compute, kGpu0);
}

TEST_F(PlanOfAWorkflow, ObeysWhatLoadersSay) {
    const auto made = phases(R"({
        "4":{"class_type":"CheckpointLoaderAdvancedMultiGPU",
             "inputs":{"unet_device":"cuda:1","clip_device":"cpu","vae_device":"cuda:0"}}})");
    EXPECT_EQ(find(made, "sd.safetensors (unet)").planned.plan.compute, kGpu1);
    EXPECT_EQ(find(made, "sd.safetensors (text)").planned.plan.compute, kCpu);
    EXPECT_EQ(find(made, "sd.safetensors (vae)").planned.plan.compute, kGpu0);
    const auto spread = phases(R"({
        "20":{"class_type":"UNETLoaderDisTorch2MultiGPU",
              "inputs":{"unet_name":"net.safetensors","weight_dtype":"default",
                        "compute_device":"cuda:1","virtual_vram_gb":0.001,"donor_device":"cpu"}},
        "3":{"inputs":{"model":["20",0]}}})");
    const auto& network = find(spread, "net.safetensors (unet)");
    EXPECT_EQ(network.allocation, "#cuda:1;0.001;cpu");
    EXPECT_EQ(network.planned.plan.mode, plan::Mode::virtual_vram);
    EXPECT_GT(network.planned.plan.per_device.at(kCpu), Bytes{});
    EXPECT_EQ(find(spread, "sd.safetensors (text)").planned.plan.mode, plan::Mode::automatic);
}

TEST_F(PlanOfAWorkflow, APlainTextEncoderComputesOnTheProcessorIfItsLoaderSaysSo) {
    const auto device_of = [this](const char* device) {
        const auto made = phases(fmt::format(
            R"({{"20":{{"class_type":"CLIPLoader","inputs":{{"clip_name":"words.safetensors",
                 "type":"stable_diffusion","device":"{}"}}}},
                "6":{{"inputs":{{"clip":["20",0]}}}},"7":{{"inputs":{{"clip":["20",0]}}}}}})",
            device));
        return find(made, "words.safetensors (text)").planned.plan.compute;
    };
    EXPECT_EQ(device_of("cpu"), kCpu);
    EXPECT_EQ(device_of("default"), kGpu0);
}

TEST_F(PlanOfAWorkflow, AnAllocationIsForNetworksOfLoadersThatSayNothing) {
    const std::string text = "cuda:0,1mb;cpu,*";
    const auto made = phases("{}", text);
    const auto& network = find(made, "sd.safetensors (unet)");
    EXPECT_EQ(network.allocation, text);
    EXPECT_EQ(network.planned.plan.mode, plan::Mode::bytes);
    for (const auto* other : {"sd.safetensors (text)", "sd.safetensors (vae)"})
        EXPECT_EQ(find(made, other).planned.plan.mode, plan::Mode::automatic) << other;
    const auto chosen = phases(R"({"4":{"class_type":"CheckpointLoaderSimpleMultiGPU",
                                        "inputs":{"device":"cuda:1"}}})",
                               text);
    EXPECT_EQ(find(chosen, "sd.safetensors (unet)").planned.plan.mode, plan::Mode::automatic);
}

TEST_F(PlanOfAWorkflow, IsMadeForTheLargestStepOfEachModel) {
    constexpr auto kTwoPasses = R"({
        "5":{"inputs":{"width":64,"height":128,"batch_size":2}},
        "20":{"class_type":"LatentUpscaleBy",
              "inputs":{"samples":["3",0],"upscale_method":"area","scale_by":2.0}},
        "21":{"class_type":"KSampler","inputs":{"model":["4",0],"seed":1,"steps":3,"cfg":1.0,
              "sampler_name":"euler","scheduler":"normal","positive":["6",0],"negative":["7",0],
              "latent_image":["20",0],"denoise":0.5}},
        "8":{"inputs":{"samples":["21",0]}}})";
    const auto made = phases(kTwoPasses);
    EXPECT_THAT(made, SizeIs(3));
    EXPECT_EQ(find(made, "sd.safetensors (unet)").shape,
              (models::StepShape{.batch = 2, .height = 32, .width = 16, .sides = 1}));
    EXPECT_EQ(find(made, "sd.safetensors (vae)").shape.width, 16);
    EXPECT_GT(need(find(made, "sd.safetensors (unet)")),
              need(find(phases(), "sd.safetensors (unet)")));
}

TEST_F(PlanOfAWorkflow, AssumesTheSizeOfPicturesThatNobodyHasSeen) {
    const auto made = phases(R"({
        "20":{"class_type":"LoadImage","inputs":{"image":"seen.png"}},
        "5":{"class_type":"VAEEncode","inputs":{"pixels":["20",0],"vae":["4",2],
             "width":null,"height":null,"batch_size":null}}})");
    EXPECT_EQ(find(made, "sd.safetensors (unet)").shape,
              (models::StepShape{.batch = 1, .height = 64, .width = 64, .sides = 2}));
    EXPECT_TRUE(find(made, "sd.safetensors (unet)").is_shape_assumed);
    EXPECT_TRUE(find(made, "sd.safetensors (vae)").is_shape_assumed);
    EXPECT_FALSE(find(made, "sd.safetensors (text)").is_shape_assumed);
}

TEST_F(PlanOfAWorkflow, WhereBothTextsDoNotFitAtOnceTheNetworkGetsOneAtATime) {
    leave(kGpu1, Bytes{});
    leave(kCpu, Bytes{std::uint64_t{16} << 20U});
    constexpr auto kManyPictures = R"({"5":{"inputs":{"batch_size":64}}})";
    const std::string all = "cuda:0,100%#cuda:0";
    const auto roomy = find(phases(kManyPictures, all), "sd.safetensors (unet)");
    EXPECT_EQ(roomy.shape.sides, 2);
    EXPECT_THAT(roomy.planned.plan.warnings, IsEmpty());
    leave(kGpu0, need(roomy).minus_or_zero(Bytes{1}));
    const auto tight = find(phases(kManyPictures, all), "sd.safetensors (unet)");
    EXPECT_TRUE(tight.planned.plan.fits);
    EXPECT_EQ(tight.shape.sides, 1);
    EXPECT_EQ(tight.shape.batch, 64) << "pictures stay together";
    EXPECT_LT(tight.planned.plan.activations, roomy.planned.plan.activations);
    EXPECT_THAT(tight.planned.plan.warnings,
                ElementsAre("memory suffices only with one text at a time"));
    leave(kGpu0, need(tight).minus_or_zero(Bytes{1}));
    const auto small = find(phases(kManyPictures, all), "sd.safetensors (unet)");
    EXPECT_FALSE(small.planned.plan.fits);
    EXPECT_EQ(small.shape.sides, 1) << "the least that it would need";
    EXPECT_EQ(small.planned.plan.shortfall.at(kGpu0).missing(), 1U);
    EXPECT_THAT(small.planned.plan.warnings, IsEmpty());
}

TEST_F(PlanOfAWorkflow, WhereAPictureDoesNotFitItIsDecodedInTiles) {
    constexpr auto kLarge = R"({"4":{"class_type":"CheckpointLoaderAdvancedMultiGPU",
             "inputs":{"unet_device":"cpu","clip_device":"cpu","vae_device":"cuda:0"}},
        "5":{"inputs":{"width":2048,"height":256}}})";
    const auto whole = find(phases(kLarge), "sd.safetensors (vae)");
    EXPECT_EQ(whole.shape.width, 256);
    // less than the activations, so that streaming does not help
    leave(kGpu0, whole.planned.plan.activations);
    const auto tiled = find(phases(kLarge), "sd.safetensors (vae)");
    EXPECT_TRUE(tiled.planned.plan.fits);
    EXPECT_EQ(tiled.shape.width, 128);
    EXPECT_EQ(tiled.shape.height, 32);
    EXPECT_THAT(tiled.planned.plan.warnings, ElementsAre("memory suffices only in tiles"));
    leave(kGpu0, tiled.planned.plan.activations);
    EXPECT_FALSE(find(phases(kLarge), "sd.safetensors (vae)").planned.plan.fits);
}

TEST_F(PlanOfAWorkflow, WhereNothingFitsWhatIsMissingIsToldWithoutThoseWhoCanGo) {
    leave(kGpu1, Bytes{});
    const Bytes room{std::uint64_t{4} << 20U};
    leave(kGpu0, room);
    const auto made =
        phases(R"({"5":{"inputs":{"width":16384,"height":16384}}})", "cuda:0,100%#cuda:0");
    const auto& network = find(made, "sd.safetensors (unet)");
    EXPECT_EQ(network.planned.plan.shortfall.at(kGpu0).available, room.count());
    EXPECT_THAT(names_of(network.evicted), ElementsAre("sd.safetensors (text)"));
}

TEST_F(PlanOfAWorkflow, SaysWhatIsMissingWhereAPhaseDoesNotFit) {
    leave(kGpu0, Bytes{1 << 20U});
    const auto made = phases("{}", "cuda:0,100%#cuda:0");
    const auto& plan = find(made, "sd.safetensors (unet)").planned.plan;
    EXPECT_FALSE(plan.fits);
    EXPECT_GT(plan.shortfall.at(kGpu0).missing(), 2U << 20U);
    EXPECT_TRUE(find(made, "sd.safetensors (text)").planned.plan.fits);
}

TEST_F(PlanOfAWorkflow, HoldsAgainstHugeSizes) {
    const auto huge = phases(R"({"5":{"inputs":{"width":16384,"height":16384,"batch_size":4096}}})",
                             "cuda:0,100%");
    EXPECT_FALSE(find(huge, "sd.safetensors (unet)").planned.plan.fits);
    std::string chain = R"({"5":{"inputs":{"width":16384}})";
    for (int i = 0; i < 30; ++i)
        chain += fmt::format(
            R"(,"s{}":{{"class_type":"LatentUpscaleBy","inputs":{{"samples":["{}",0],
                "upscale_method":"area","scale_by":8.0}}}})",
            i, i == 0 ? "5" : fmt::format("s{}", i - 1));
    const auto beyond = planned(chain + R"(,"3":{"inputs":{"latent_image":["s29",0]}}})");
    ASSERT_FALSE(beyond);
    EXPECT_EQ(beyond.error().code, Code::bad_value);
    EXPECT_EQ(beyond.error().place.node, "4");
}

TEST_F(PlanOfAWorkflow, OpensOnlyWhatIsUsed) {
    folder_.write("models/vae/broken.safetensors", "no weights");
    constexpr auto kLoader =
        R"("20":{"class_type":"VAELoader","inputs":{"vae_name":"broken.safetensors"}})";
    EXPECT_TRUE(planned(std::string("{") + kLoader + "}")) << "no output needs it";
    const auto refused =
        planned(std::string("{") + kLoader + R"(,"8":{"inputs":{"vae":["20",0]}}})");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().place.node, "20");
    EXPECT_THAT(to_string(refused.error()),
                AllOf(HasSubstr("broken.safetensors"), HasSubstr("begins with 'no weights'")));
}

TEST_F(PlanOfAWorkflow, RefusesFilesOfOtherKindsAtTheirLoader) {
    const auto refusal = [this](const char* tensor) {
        ballast::testing::write_safetensors(folder_ / "models/checkpoints/other.safetensors",
                                            {ballast::testing::stored_floats(tensor, {1}, {1})});
        const auto made = planned(R"({"4":{"inputs":{"ckpt_name":"other.safetensors"}}})");
        EXPECT_FALSE(made);
        return made ? Error{} : made.error();
    };
    const auto sdxl = refusal("model.diffusion_model.label_emb.0.0.weight");
    EXPECT_EQ(sdxl.code, Code::unsupported);
    EXPECT_EQ(sdxl.place.node, "4");
    EXPECT_THAT(to_string(sdxl), HasSubstr("SDXL"));
    const auto lone = refusal("decoder.conv_in.weight");
    EXPECT_EQ(lone.place.node, "4");
    EXPECT_THAT(lone.hint, HasSubstr("VAELoader")) << to_string(lone);
}

TEST_F(PlanOfAWorkflow, BlamesNoNodeForAnAllocationThatMeansNothing) {
    const auto refused = planned("{}", "cuda:0,2,5gb");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::usage);
    EXPECT_EQ(refused.error().place.node, "");
    EXPECT_EQ(refused.error().place.column, 8U);
    const auto at_loader = planned(R"({"4":{"class_type":"CheckpointLoaderSimpleDisTorch2MultiGPU",
        "inputs":{"expert_mode_allocations":"cuda:0,lots"}}})");
    ASSERT_FALSE(at_loader);
    EXPECT_EQ(at_loader.error().place.node, "4");
}

TEST_F(PlanOfAWorkflow, EqualWorkflowsGiveEqualPlans) {
    const auto first = phases();
    const auto second = phases();
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i)
        EXPECT_EQ(first[i].planned.plan, second[i].planned.plan);
}

TEST_F(PlanOfAWorkflow, NamesADeviceThatCannotStoreBlocks) {
    auto profile = machine_.profile;
    profile.devices.push_back({.id = {DeviceKind::directml, 0}, .total = Bytes{1U << 30U}});
    machine_ = planning_machine(std::move(profile), {});
    for (const auto* text : {"directml:0,1mb;cpu,*", "#cuda:0;0.001;directml:0"}) {
        const auto refused = planned("{}", text);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().code, Code::not_available);
        EXPECT_THAT(to_string(refused.error()), HasSubstr("directml:0 cannot store blocks"));
    }
    EXPECT_TRUE(planned("{}")) << "who does not name it does not meet it";
}

// Faults of ComfyUI-MultiGPU 2.6.3, by their numbers in our list of them; none of them is ours.

/// A second sampler after the first one, with the network of loader 20.
std::string second_sampler(std::string_view checkpoint, std::string_view allocation) {
    return fmt::format(
        R"("20":{{"class_type":"CheckpointLoaderSimpleDisTorch2MultiGPU",
                 "inputs":{{"ckpt_name":"{}","virtual_vram_gb":0.0,
                           "expert_mode_allocations":"{}"}}}},
           "21":{{"class_type":"KSampler","inputs":{{"model":["20",0],"seed":1,"steps":3,"cfg":3.0,
                 "sampler_name":"euler","scheduler":"normal","positive":["6",0],
                 "negative":["7",0],"latent_image":["3",0],"denoise":0.5}}}},
           "8":{{"inputs":{{"samples":["21",0]}}}})",
        checkpoint, allocation);
}

TEST_F(PlanOfAWorkflow, D18ModelsOfEqualSizeAndModelsOfOneFileKeepTheirOwnWishes) {
    std::filesystem::copy_symlink(folder_ / "models/checkpoints/sd.safetensors",
                                  folder_ / "models/checkpoints/twin.safetensors");
    for (const auto* second : {"twin.safetensors", "sd.safetensors"}) {
        const auto made = phases(
            R"({"4":{"class_type":"CheckpointLoaderSimpleDisTorch2MultiGPU",
                     "inputs":{"virtual_vram_gb":0.0,"expert_mode_allocations":"cuda:1,*"}},)" +
            second_sampler(second, "cpu,*") + "}");
        Phases networks;
        for (const auto& phase : made)
            if (phase.name.ends_with("(unet)")) networks.push_back(phase);
        ASSERT_EQ(networks.size(), 2U) << second;
        EXPECT_EQ(networks[0].table.bytes(), networks[1].table.bytes());
        EXPECT_EQ(networks[0].allocation, "cuda:1,*#cuda:0");
        EXPECT_EQ(networks[1].allocation, "cpu,*#cuda:0");
        EXPECT_TRUE(networks[0].planned.plan.per_device.contains(kGpu1));
        EXPECT_FALSE(networks[1].planned.plan.per_device.contains(kGpu1)) << second;
    }
}

TEST_F(PlanOfAWorkflow, D26AnAllocationReachesTheModelThatItsLoaderDistributes) {
    struct Case {
        const char* class_type;
        const char* changes;
        std::vector<const char*> distributed;
    };
    const std::vector<Case> cases{
        {"UNETLoaderDisTorch2MultiGPU",
         R"({"20":{"inputs":{"unet_name":"net.safetensors","weight_dtype":"default",
                             "compute_device":"cuda:1","virtual_vram_gb":0.0,
                             "expert_mode_allocations":"cpu,*"}},
             "3":{"inputs":{"model":["20",0]}}})",
         {"net.safetensors (unet)"}},
        {"CLIPLoaderDisTorch2MultiGPU",
         R"({"20":{"inputs":{"clip_name":"words.safetensors","type":"stable_diffusion",
                             "device":"cuda:1","virtual_vram_gb":0.0,
                             "expert_mode_allocations":"cpu,*"}},
             "6":{"inputs":{"clip":["20",0]}},"7":{"inputs":{"clip":["20",0]}}})",
         {"words.safetensors (text)"}},
        {"VAELoaderDisTorch2MultiGPU",
         R"({"20":{"inputs":{"vae_name":"pictures.safetensors","compute_device":"cuda:1",
                             "virtual_vram_gb":0.0,"expert_mode_allocations":"cpu,*"}},
             "8":{"inputs":{"vae":["20",0]}}})",
         {"pictures.safetensors (vae)"}},
        {"CheckpointLoaderSimpleDisTorch2MultiGPU",
         R"({"4":{"inputs":{"compute_device":"cuda:1","virtual_vram_gb":0.0,
                            "expert_mode_allocations":"cpu,*"}}})",
         {"sd.safetensors (unet)"}},
        {"CheckpointLoaderAdvancedDisTorch2MultiGPU",
         R"({"4":{"inputs":{"unet_compute_device":"cuda:1","unet_virtual_vram_gb":0.0,
                            "unet_donor_device":"cpu","unet_expert_mode_allocations":"cpu,*",
                            "clip_compute_device":"cuda:1","clip_virtual_vram_gb":0.0,
                            "clip_donor_device":"cpu","clip_expert_mode_allocations":"cpu,*",
                            "vae_device":"cuda:1"}}})",
         {"sd.safetensors (unet)", "sd.safetensors (text)"}}};
    for (const auto& [class_type, changes, distributed] : cases) {
        SCOPED_TRACE(class_type);
        auto patch = testing::json(changes);
        const bool is_checkpoint = patch.contains("4");
        patch[is_checkpoint ? "4" : "20"]["class_type"] = class_type;
        const auto made = phases(patch.dump());
        for (const auto& phase : made) {
            const auto& plan = phase.planned.plan;
            const bool is_distributed =
                std::ranges::find(distributed, phase.name) != distributed.end();
            EXPECT_EQ(plan.mode == plan::Mode::bytes, is_distributed) << phase.name;
            EXPECT_EQ(plan.per_device.contains(kCpu), is_distributed) << phase.name;
            if (is_distributed || is_checkpoint) {
                EXPECT_EQ(plan.compute, kGpu1) << "every model follows the device: " << phase.name;
            }
        }
    }
    std::vector<std::string> others;
    const auto catalogue = standard_catalogue();
    for (const auto& node : catalogue.all())
        if (node.class_type.ends_with(kDistorch2Form)) others.push_back(node.class_type);
    for (const auto& each : cases) EXPECT_EQ(std::erase(others, each.class_type), 1U);
    EXPECT_THAT(others, IsEmpty()) << "none of them does nothing";
}

}  // namespace
}  // namespace ballast::graph
