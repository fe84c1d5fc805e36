// Faults of ComfyUI-MultiGPU 2.6.3 in its nodes, by their numbers in our list of them; none of them
// is ours.

#include <gmock/gmock.h>

#include "ballast/graph/distribution_inputs.hpp"
#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RecordedFolders;

class DistributionDefects : public ::testing::Test {
protected:
    /// Checks a workflow whose only loader is a UNETLoaderDisTorch2MultiGPU with these inputs, on a
    /// machine with these devices.
    Validation validated(const Json& inputs,
                         const Devices& devices = Devices({{DeviceKind::cuda, 0},
                                                           {DeviceKind::cuda, 1}})) {
        Json all{{"unet_name", "d2.sft"}, {"weight_dtype", "default"}};
        all.update(inputs);
        const Json document = {
            {"1", {{"class_type", "UNETLoaderDisTorch2MultiGPU"}, {"inputs", all}}},
            {"2", {{"class_type", "Show"}, {"inputs", {{"any", Json::array({"1", 0})}}}}}};
        auto nodes = standard_catalogue(devices).all();
        nodes.push_back({.class_type = "Show",
                         .category = "test",
                         .role = Role::output,
                         .inputs = {link("any", "*")}});
        return validate(*workflow_from_json(document), NodeCatalogue(nodes), recorded_.folders());
    }

    /// What the node is called with: constants as validated, defaults for what is left out.
    static DistributionInputs received(const Validation& validation) {
        EXPECT_TRUE(validation.report.is_clean());
        const auto& node = validation.workflow.nodes.at(0);
        NodeCall call{.node_id = node.id,
                      .class_type = node.declaration->class_type,
                      .inputs = {},
                      .output_is_used = {}};
        for (const auto& input : node.inputs)
            call.inputs.emplace(input.name, std::get<Json>(input.value));
        for (const auto& input : node.declaration->inputs)
            if (auto value = default_value(input)) call.inputs.emplace(input.name, *value);
        return distribution_inputs(call).value();
    }

    static Fault fault_of(const Validation& validation) {
        EXPECT_EQ(validation.report.node_faults.size(), 1U);
        return validation.report.node_faults.at(0).faults.at(0);
    }

    RecordedFolders recorded_;
};

TEST_F(DistributionDefects, D08TheFlagOfOldWorkflowsIsReadAndTakenForWhatItSays) {
    EXPECT_EQ(received(validated({{"eject_models", false}})).eject_models, false);
    EXPECT_EQ(received(validated({{"eject_models", true}})).eject_models, true);
    EXPECT_EQ(received(validated(Json::object())).eject_models, std::nullopt);
}

TEST_F(DistributionDefects, D08AFlagThatIsNoTruthValueIsRefusedWithItsPlace) {
    for (const Json& value : {Json("false"), Json("yes"), Json(1), Json(nullptr)}) {
        const auto validation = validated({{"eject_models", value}});
        ASSERT_FALSE(validation.report.is_clean()) << value;
        EXPECT_EQ(fault_of(validation).input, "eject_models");
        EXPECT_EQ(fault_of(validation).hint, "use true or false");
        EXPECT_EQ(validation.report.node_faults.at(0).node, "1");
    }
}

TEST_F(DistributionDefects, D19ADeviceGoesWithTheCallAndLeavesNothingBehind) {
    const auto first = validated({{"compute_device", "cuda:1"}});
    const auto second = validated(Json::object());
    EXPECT_EQ(received(first).network.compute, (DeviceId{DeviceKind::cuda, 1}));
    EXPECT_EQ(received(second).network.compute, (DeviceId{DeviceKind::cuda, 0}))
        << "the choice of another node";
}

TEST_F(DistributionDefects, D21NoDeviceIsTheFirstAccelerator) {
    for (const Json& inputs :
         {Json::object(), Json{{"compute_device", "None"}}, Json{{"compute_device", nullptr}}}) {
        const auto validation = validated(inputs);
        EXPECT_EQ(received(validation).network.allocation, "#cuda:0;4.0;cpu") << inputs;
    }
    EXPECT_EQ(received(validated({{"donor_device", "None"}})).network.allocation,
              "#cuda:0;4.0;cpu");
    EXPECT_EQ(received(validated(Json::object(), Devices{})).network.compute, kCpu);
}

TEST_F(DistributionDefects, D22DevicesWithoutANumberAreOrdered) {
    const Devices devices({{DeviceKind::mps, 0}, {DeviceKind::cuda, 0}});
    EXPECT_EQ(received(validated({{"donor_device", "mps"}}, devices)).network.allocation,
              "#cuda:0;4.0;mps");
}

TEST_F(DistributionDefects, D27AnUnknownDeviceIsRefusedWithThosePresent) {
    for (const auto* input : {"compute_device", "donor_device"})
        for (const auto* name : {"cuda:7", "gpu0", "xpu:0", ""}) {
            const auto fault = fault_of(validated({{input, name}}));
            EXPECT_EQ(fault.type, "value_not_in_list");
            EXPECT_EQ(fault.input, input);
            EXPECT_THAT(fault.message, HasSubstr(std::string("no device '") + name));
            EXPECT_EQ(fault.hint, "present: cpu, cuda:0, cuda:1");
        }
}

TEST_F(DistributionDefects, D30TheTextsOfferWhatTheReaderTakes) {
    const auto catalogue = standard_catalogue();
    const auto& tip =
        catalogue.find("UNETLoaderDisTorch2MultiGPU")->input("expert_mode_allocations")->tooltip;
    EXPECT_THAT(tip, AllOf(HasSubstr("cuda:0,2.5gb;cpu,*"), HasSubstr("cuda:0,25%;cpu,75%")));
}

TEST_F(DistributionDefects, AnOldWorkflowPassesWithoutAWord) {
    const auto validation = validated({{"compute_device", "cuda:0"},
                                       {"virtual_vram_gb", 4.0},
                                       {"donor_device", "cpu"},
                                       {"expert_mode_allocations", ""},
                                       {"eject_models", true}});
    EXPECT_TRUE(validation.report.is_clean());
    EXPECT_THAT(validation.report.node_faults, IsEmpty());
    const auto& inputs = validation.workflow.nodes.at(0).inputs;
    EXPECT_TRUE(std::ranges::any_of(inputs, [](const auto& input) {
        return input.name == "eject_models";
    })) << "so that a changed flag is a changed node";
}

}  // namespace
}  // namespace ballast::graph
