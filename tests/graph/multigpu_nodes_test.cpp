// The declarations of the loaders with a choice of devices, against the list of ComfyUI-MultiGPU.

#include "ballast/graph/nodes/multigpu.hpp"

#include <gmock/gmock.h>

#include "ballast/graph/distribution_nodes.hpp"
#include "ballast/graph/node_description.hpp"
#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

using ::testing::ElementsAre;
using testing::json;
using testing::RecordedFolders;
using ::testing::UnorderedElementsAreArray;

const Devices kTwoCards({{DeviceKind::cuda, 0}, {DeviceKind::cuda, 1}});

/// What a client sees of a class on a machine with two cards, without texts for people.
Json described(std::string_view class_type, const Devices& devices = kTwoCards) {
    const RecordedFolders recorded;
    const auto catalogue = standard_catalogue(devices);
    const auto* node = catalogue.find(class_type);
    if (node == nullptr) throw std::out_of_range("no class " + std::string(class_type));
    auto entry = describe(*node, recorded.folders());
    for (auto& [name, section] : entry["input"].get_ref<Json::object_t&>())
        for (auto& [input, declaration] : section.get_ref<Json::object_t&>())
            if (declaration.size() > 1) declaration[1].erase("tooltip");
    return entry;
}

Json inputs_of(std::string_view class_type) { return described(class_type)["input"]; }
Json optional_inputs_of(std::string_view class_type) { return inputs_of(class_type)["optional"]; }

constexpr auto kDevice = R"([["cpu", "cuda:0", "cuda:1"], {"default": "cuda:0"}])";
constexpr auto kDonor = R"([["cpu", "cuda:0", "cuda:1"], {"default": "cpu"}])";
constexpr auto kFourGib = R"(["FLOAT", {"default": 4.0, "min": 0.0, "max": 128.0, "step": 0.1}])";
constexpr auto kText = R"(["STRING", {"default": ""}])";
constexpr auto kTrue = R"(["BOOLEAN", {"default": true}])";

/// Group D2 of the list, D2T with `compute` "device".
Json distorch2_inputs(const std::string& compute) {
    return {{compute, json(kDevice)},
            {"virtual_vram_gb", json(kFourGib)},
            {"donor_device", json(kDonor)},
            {"expert_mode_allocations", json(kText)},
            {"keep_loaded", json(kTrue)}};
}

TEST(MultiGpuNodes, TheTableNamesAllOfTheOriginalsCore) {
    std::vector<std::string> expected{"CheckpointLoaderAdvancedMultiGPU",
                                      "CheckpointLoaderAdvancedDisTorch2MultiGPU",
                                      "DeviceSelectorMultiGPU", "UNetLoaderLP"};
    for (const std::string base :
         {"UNETLoader", "VAELoader", "CLIPLoader", "DualCLIPLoader", "TripleCLIPLoader",
          "QuadrupleCLIPLoader", "CLIPVisionLoader", "CheckpointLoaderSimple", "ControlNetLoader",
          "DiffControlNetLoader", "DiffusersLoader"}) {
        expected.push_back(base + "MultiGPU");
        expected.push_back(base + "DisTorch2MultiGPU");
    }
    ASSERT_EQ(expected.size(), 26U);
    EXPECT_THAT(distribution_classes(), UnorderedElementsAreArray(expected));
}

TEST(MultiGpuNodes, ThoseWhoseLoaderExistsAreInTheCatalogue) {
    const auto catalogue = standard_catalogue();
    std::vector<std::string> missing;
    for (const auto& name : distribution_classes())
        if (catalogue.find(name) == nullptr) missing.push_back(name);
    EXPECT_EQ(distribution_classes().size() - missing.size(), 12U);
    for (const auto& name : missing)
        EXPECT_EQ(catalogue.find(base_class(name)), nullptr)
            << name << " is left out although its loader exists";
}

TEST(MultiGpuNodes, ALoaderThatComesLaterBringsBothForms) {
    const NodeDeclaration dual{.class_type = "DualCLIPLoader",
                               .category = "advanced/loaders",
                               .inputs = {model_file("clip_name1", "text_encoders"),
                                          optional(choice("device", {"default", "cpu"}))},
                               .outputs = {{.type = "CLIP"}}};
    const auto made = nodes::multigpu({dual}, kTwoCards);
    ASSERT_EQ(made.size(), 3U) << "two forms, and the device selector";
    EXPECT_EQ(made[0].class_type, "DualCLIPLoaderMultiGPU");
    EXPECT_EQ(made[1].class_type, "DualCLIPLoaderDisTorch2MultiGPU");
    EXPECT_NE(made[1].input("clip_name1"), nullptr);
    EXPECT_EQ(std::get<ChoiceField>(made[1].input("device")->field).default_value, "cuda:0");
}

TEST(MultiGpuNodes, TheDeviceFormAddsOneInput) {
    for (const auto* class_type : {"UNETLoaderMultiGPU", "VAELoaderMultiGPU", "CLIPLoaderMultiGPU",
                                   "CheckpointLoaderSimpleMultiGPU"}) {
        EXPECT_EQ(optional_inputs_of(class_type).dump(), Json({{"device", json(kDevice)}}).dump())
            << class_type;
        EXPECT_EQ(described(class_type)["category"], "multigpu");
    }
}

TEST(MultiGpuNodes, TheDisTorch2FormAddsAnAllocation) {
    for (const auto* class_type : {"UNETLoaderDisTorch2MultiGPU", "VAELoaderDisTorch2MultiGPU",
                                   "CheckpointLoaderSimpleDisTorch2MultiGPU"})
        EXPECT_EQ(optional_inputs_of(class_type).dump(2),
                  distorch2_inputs("compute_device").dump(2))
            << class_type;
    EXPECT_EQ(optional_inputs_of("CLIPLoaderDisTorch2MultiGPU").dump(2),
              distorch2_inputs("device").dump(2));
    EXPECT_EQ(described("CLIPLoaderDisTorch2MultiGPU")["category"], "multigpu/distorch_2");
}

TEST(MultiGpuNodes, KeepTheLoadersOwnInputsAndOutputs) {
    for (const std::string base :
         {"UNETLoader", "VAELoader", "CLIPLoader", "CheckpointLoaderSimple"})
        for (const std::string form : {"MultiGPU", "DisTorch2MultiGPU"}) {
            const auto made = described(base + form);
            const auto original = described(base);
            EXPECT_EQ(made["input"]["required"], original["input"]["required"]) << base + form;
            EXPECT_EQ(made["output"], original["output"]);
            EXPECT_EQ(made["output_name"], original["output_name"]);
            EXPECT_EQ(made["display_name"], base + form);
            EXPECT_EQ(made["python_module"], "custom_nodes.ComfyUI-MultiGPU");
        }
}

TEST(MultiGpuNodes, TheAdvancedCheckpointNamesADeviceForEachModel) {
    const auto made = described("CheckpointLoaderAdvancedMultiGPU");
    auto expected = inputs_of("CheckpointLoaderSimple")["required"];
    for (const auto* input : {"unet_device", "clip_device", "vae_device"})
        expected[input] = json(kDevice);
    EXPECT_EQ(made["input"]["required"].dump(2), expected.dump(2));
    EXPECT_FALSE(made["input"].contains("optional"));
    EXPECT_THAT(made["output"], ElementsAre("MODEL", "CLIP", "VAE"));
    EXPECT_EQ(made["category"], "multigpu");
}

TEST(MultiGpuNodes, TheAdvancedDisTorch2CheckpointHasTwoAllocations) {
    const auto made = described("CheckpointLoaderAdvancedDisTorch2MultiGPU");
    auto expected = inputs_of("CheckpointLoaderSimple")["required"];
    expected["unet_compute_device"] = json(kDevice);
    expected["unet_virtual_vram_gb"] = json(kFourGib);
    expected["unet_donor_device"] = json(kDonor);
    expected["clip_compute_device"] = json(kDonor);  // "cpu", too
    expected["clip_virtual_vram_gb"] =
        json(R"(["FLOAT", {"default": 2.0, "min": 0.0, "max": 128.0, "step": 0.1}])");
    expected["clip_donor_device"] = json(kDonor);
    expected["vae_device"] = json(kDevice);
    EXPECT_EQ(made["input"]["required"].dump(2), expected.dump(2));
    EXPECT_EQ(made["input"]["optional"].dump(2),
              Json({{"unet_expert_mode_allocations", json(kText)},
                    {"clip_expert_mode_allocations", json(kText)},
                    {"high_precision_loras", json(kTrue)},
                    {"keep_loaded", json(kTrue)}})
                  .dump(2));
    EXPECT_THAT(made["output"], ElementsAre("MODEL", "CLIP", "VAE"));
    EXPECT_EQ(made["category"], "multigpu/distorch_2");
}

TEST(MultiGpuNodes, TheDeviceSelectorGivesADevice) {
    const auto made = described("DeviceSelectorMultiGPU");
    EXPECT_EQ(made["input"].dump(), Json({{"required", {{"device", json(kDevice)}}}}).dump());
    EXPECT_THAT(made["output"], ElementsAre("MULTIGPUDEVICE"));
    EXPECT_EQ(made["category"], "multigpu");
}

TEST(MultiGpuNodes, TheLowPrecisionLoaderTakesAFileAlone) {
    const auto made = described("UNetLoaderLP");
    EXPECT_EQ(made["input_order"].dump(), R"({"required":["unet_name"]})");
    EXPECT_EQ(made["input"]["required"]["unet_name"],
              inputs_of("UNETLoader")["required"]["unet_name"]);
    EXPECT_THAT(made["output"], ElementsAre("MODEL"));
    EXPECT_EQ(made["category"], "loaders");
    EXPECT_EQ(made["description"].get<std::string>().find("device"), std::string::npos)
        << "the original's text tells of an input that does not exist";
}

TEST(MultiGpuNodes, WithoutAnAcceleratorTheCpuIsTheDefault) {
    EXPECT_EQ(described("UNETLoaderMultiGPU", Devices{})["input"]["optional"]["device"].dump(),
              R"([["cpu"],{"default":"cpu"}])");
}

}  // namespace
}  // namespace ballast::graph
