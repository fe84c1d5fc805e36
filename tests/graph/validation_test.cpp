#include "ballast/graph/validation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::json;
using testing::RecordedFolders;
using testing::workflow_of;

class ValidationTest : public ::testing::Test {
protected:
    Validation validated(const Workflow& workflow, const Targets& targets = {}) {
        return validate(workflow, catalogue_, recorded_.folders(), targets);
    }
    Validation validated(std::string_view text) { return validated(workflow_of(text)); }

    /// The faults of one EmptyImage whose inputs are given in part.
    std::vector<Fault> faults_of_image(const Json& changed) {
        Json inputs = {{"width", 16}, {"height", 8}, {"batch_size", 1}, {"color", 0}};
        inputs.update(changed);
        return faults_of("EmptyImage", inputs);
    }

    /// The faults of one node whose first output is previewed.
    std::vector<Fault> faults_of(const std::string& class_type, const Json& inputs) {
        const Json document = {
            {"1", {{"class_type", class_type}, {"inputs", inputs}}},
            {"2", {{"class_type", "Show"}, {"inputs", {{"any", Json::array({"1", 0})}}}}}};
        std::vector<NodeDeclaration> nodes = catalogue_.all();
        nodes.push_back({.class_type = "Show",
                         .category = "test",
                         .role = Role::output,
                         .inputs = {link("any", "*")}});
        last_ = validate(*workflow_from_json(document), NodeCatalogue(nodes), recorded_.folders());
        return last_.report.node_faults.empty() ? std::vector<Fault>{}
                                                : last_.report.node_faults[0].faults;
    }

    /// What the first input of the node checked last became.
    Json first_constant() { return std::get<Json>(last_.workflow.nodes.at(0).inputs.at(0).value); }

    RecordedFolders recorded_;
    NodeCatalogue catalogue_ = standard_catalogue();
    Validation last_;
};

const NodeFaults& of_node(const ValidationReport& report, const std::string& id) {
    for (const auto& node : report.node_faults)
        if (node.node == id) return node;
    throw std::out_of_range("no faults of node " + id);
}

std::vector<std::string> types(const NodeFaults& node) {
    std::vector<std::string> result;
    for (const auto& fault : node.faults) result.push_back(fault.type);
    return result;
}

TEST_F(ValidationTest, RunsTheValidPartAndReportsTheRest) {
    recorded_.root().write("models/checkpoints/toy.safetensors", "");
    const auto [report, workflow] =
        validated(*workflow_from_json(testing::recorded("cases/22-workflow-partly-invalid.json")));
    EXPECT_FALSE(report.refusal);
    EXPECT_FALSE(report.is_clean());
    EXPECT_THAT(report.outputs, ElementsAre("6"));
    EXPECT_EQ(report.node_errors().dump(),
              R"({"7":{"errors":[{"type":"required_input_missing","message":"Required input is )"
              R"(missing (link images of SaveImage to an output of type IMAGE: )"
              R"x([\"<node id>\", <output index>])","details":"images",)x"
              R"("extra_info":{"input_name":"images"}}],)"
              R"("dependent_outputs":["7"],"class_type":"SaveImage"}})");
    ASSERT_EQ(workflow.outputs.size(), 1U);
    EXPECT_EQ(workflow.nodes[workflow.outputs[0]].id, "6");
    EXPECT_EQ(workflow.nodes.size(), 6U);
}

TEST_F(ValidationTest, ReportsEachFaultOfADamagedWorkflow) {
    const auto [report, workflow] =
        validated(*workflow_from_json(testing::recorded("cases/23-workflow-dangling-link.json")));
    ASSERT_TRUE(report.refusal);
    EXPECT_EQ(report.refusal->type, "prompt_outputs_failed_validation");
    EXPECT_TRUE(workflow.outputs.empty());
    ASSERT_EQ(report.node_faults.size(), 3U);

    const auto& output = of_node(report, "9").faults.at(0);
    EXPECT_EQ(output.input, "images");
    EXPECT_THAT(output.details, AllOf(HasSubstr("images: output 5 of node 3 (KSampler)"),
                                      HasSubstr("one output: 0 (LATENT)")));

    const auto& sampler = of_node(report, "3");
    std::map<std::string, std::string> found;
    for (const auto& fault : sampler.faults) found[fault.input] = fault.type;
    EXPECT_EQ(found,
              (std::map<std::string, std::string>{{"model", "exception_during_inner_validation"},
                                                  {"steps", "invalid_input_type"},
                                                  {"sampler_name", "value_not_in_list"},
                                                  {"scheduler", "value_not_in_list"},
                                                  {"denoise", "invalid_input_type"}}));
    EXPECT_EQ(sampler.faults.at(0).details, "'11'");
    EXPECT_THAT(sampler.faults.at(0).message, AllOf(HasSubstr("model"), HasSubstr("node 11")));

    // linked to itself, by an output of another type at that: one fault, and the graver one
    EXPECT_THAT(types(of_node(report, "4")), ElementsAre("dependency_cycle"));
    EXPECT_THAT(of_node(report, "4").dependent_outputs, ElementsAre("9"));
}

TEST_F(ValidationTest, ReportsCyclesOnEachMember) {
    const auto report = validated(R"({
        "1":{"class_type":"ImageInvert","inputs":{"image":["2",0]}},
        "2":{"class_type":"ImageInvert","inputs":{"image":["1",0]}},
        "3":{"class_type":"PreviewImage","inputs":{"images":["2",0]}}})")
                            .report;
    ASSERT_TRUE(report.refusal);
    ASSERT_EQ(report.node_faults.size(), 2U);
    for (const char* id : {"1", "2"}) {
        const auto& fault = of_node(report, id).faults.at(0);
        EXPECT_EQ(fault.type, "dependency_cycle");
        EXPECT_EQ(fault.details, "2 (ImageInvert) -> 1 (ImageInvert) -> 2 (ImageInvert)");
        EXPECT_EQ(fault.extra_info, Json({{"node_id", id}, {"cycle_nodes", {"2", "1"}}}));
        EXPECT_EQ(fault.input, "image");
        EXPECT_THAT(of_node(report, id).dependent_outputs, ElementsAre("3"));
    }
}

TEST_F(ValidationTest, ReportsANodeThatIsLinkedToItself) {
    const auto report = validated(R"({
        "1":{"class_type":"ImageInvert","inputs":{"image":["1",0]}},
        "3":{"class_type":"PreviewImage","inputs":{"images":["1",0]}}})")
                            .report;
    EXPECT_EQ(of_node(report, "1").faults.at(0).details, "1 (ImageInvert) -> 1 (ImageInvert)");
}

TEST_F(ValidationTest, RunsOtherOutputsBesideACycle) {
    const auto report = validated(R"({
        "1":{"class_type":"ImageInvert","inputs":{"image":["1",0]}},
        "2":{"class_type":"PreviewImage","inputs":{"images":["1",0]}},
        "3":{"class_type":"EmptyImage","inputs":{"width":8,"height":8,"batch_size":1,"color":0}},
        "4":{"class_type":"PreviewImage","inputs":{"images":["3",0]}}})")
                            .report;
    EXPECT_FALSE(report.refusal);
    EXPECT_THAT(report.outputs, ElementsAre("4"));
}

/// A chain of inverters of that length below one output; the first one takes `start`.
Workflow chain(std::size_t length, const Json& start) {
    std::vector<WorkflowNode> nodes;
    for (std::size_t i = 0; i < length; ++i)
        nodes.push_back(
            {.id = fmt::format("{}", i),
             .body = {{"class_type", "ImageInvert"},
                      {"inputs",
                       {{"image", i == 0 ? start : Json::array({fmt::format("{}", i - 1), 0})}}}}});
    nodes.push_back({.id = "source", .body = json(R"({"class_type":"EmptyImage",
                         "inputs":{"width":8,"height":8,"batch_size":1,"color":0}})")});
    nodes.push_back(
        {.id = "out",
         .body = {{"class_type", "PreviewImage"},
                  {"inputs", {{"images", Json::array({fmt::format("{}", length - 1), 0})}}}}});
    return Workflow(std::move(nodes));
}

constexpr std::size_t kLong = 100000;

TEST_F(ValidationTest, WalksAChainOfAnyLength) {
    const auto [report, workflow] = validated(chain(kLong, json(R"(["source",0])")));
    EXPECT_TRUE(report.is_clean());
    EXPECT_EQ(workflow.nodes.size(), kLong + 2);
}

TEST_F(ValidationTest, WalksACycleOfAnyLengthAndStaysBrief) {
    const auto report =
        validated(chain(kLong, Json::array({fmt::format("{}", kLong - 1), 0}))).report;
    ASSERT_TRUE(report.refusal);
    EXPECT_LE(report.node_faults.size(), 1001U);
    EXPECT_THAT(of_node(report, "0").faults.at(0).details,
                HasSubstr("more nodes) -> 0 (ImageInvert)"));
    EXPECT_LT(report.to_json().dump().size(), 2000000U);
}

TEST_F(ValidationTest, TakesLinksBackFromEveryMemberOfALongChain) {
    // Each link back closes a cycle: as many cycles as nodes, and as long.
    std::vector<WorkflowNode> nodes;
    constexpr std::size_t kNodes = 50000;
    for (std::size_t i = 0; i < kNodes; ++i)
        nodes.push_back(
            {.id = fmt::format("{}", i),
             .body = {{"class_type", "ImageBatch"},
                      {"inputs",
                       {{"image1", Json::array({fmt::format("{}", (i + 1) % kNodes), 0})},
                        {"image2", Json::array({"0", 0})}}}}});
    nodes.push_back({.id = "out",
                     .body = json(R"({"class_type":"PreviewImage","inputs":{"images":["0",0]}})")});
    const auto report = validated(Workflow(std::move(nodes))).report;
    EXPECT_TRUE(report.refusal);
}

TEST_F(ValidationTest, PairsManyFaultsWithManyOutputsBriefly) {
    std::vector<WorkflowNode> nodes;
    for (int i = 0; i < 20000; ++i)
        nodes.push_back({.id = fmt::format("{}", i),
                         .body = json(R"({"class_type":"PreviewImage","inputs":{}})")});
    const auto report = validated(Workflow(std::move(nodes))).report;
    EXPECT_EQ(report.node_faults.size(), 20000U);
    EXPECT_LT(report.to_json().dump().size(), 20000000U);
}

TEST_F(ValidationTest, LeavesLinksOfUndeclaredInputsAlone) {
    const auto [report, workflow] = validated(R"({
        "1":{"class_type":"EmptyImage","inputs":{"width":16,"height":8,"batch_size":1,"color":0}},
        "2":{"class_type":"ImageInvert","inputs":{"image":["1",0],"nonsense":["77",0]}},
        "3":{"class_type":"PreviewImage","inputs":{"images":["2",0]}}})");
    EXPECT_TRUE(report.is_clean());
    EXPECT_EQ(workflow.nodes.at(1).inputs.size(), 1U);
}

TEST_F(ValidationTest, ConvertsConstantsToDeclaredTypes) {
    EXPECT_TRUE(faults_of_image({{"width", " 16 "}}).empty());
    EXPECT_EQ(first_constant().dump(), "16");
    EXPECT_TRUE(faults_of_image({{"width", 16.9}}).empty());
    EXPECT_EQ(first_constant().dump(), "16");
    EXPECT_TRUE(faults_of_image({{"width", {{"__value__", 32}}}}).empty());
    EXPECT_EQ(first_constant().dump(), "32");
    EXPECT_TRUE(faults_of("SolidMask", json(R"({"value":1,"width":8,"height":8})")).empty());
    EXPECT_EQ(first_constant().dump(), "1.0");
    EXPECT_TRUE(faults_of("CLIPSetLastLayer", json(R"({"stop_at_clip_layer":-24,"clip":["0",1]})"))
                    .size() == 1);
}

TEST_F(ValidationTest, KeepsSeedsExact) {
    for (const char* seed :
         {"18446744073709551615", "\"18446744073709551615\"", "0", "9007199254740993"}) {
        EXPECT_TRUE(faults_of("RandomNoise", {{"noise_seed", json(seed)}}).empty()) << seed;
        EXPECT_EQ(first_constant().get<std::uint64_t>(),
                  std::stoull(std::string{seed}.substr(seed[0] == '"' ? 1 : 0)));
    }
    EXPECT_EQ(faults_of("RandomNoise", {{"noise_seed", -1}}).at(0).type, "value_smaller_than_min");
    for (const Json& huge :
         {json("18446744073709551616"), Json("18446744073709551616"), Json(1e300)})
        EXPECT_EQ(faults_of("RandomNoise", {{"noise_seed", huge}}).at(0).type,
                  "value_bigger_than_max");
}

TEST_F(ValidationTest, RefusesWhatIsNoNumber) {
    const auto value = [&](const Json& given) {
        const auto faults = faults_of("SolidMask", {{"value", given}, {"width", 8}, {"height", 8}});
        return faults.empty() ? std::string{} : faults.at(0).type;
    };
    EXPECT_EQ(value("half"), "invalid_input_type");
    EXPECT_EQ(value("nan"), "invalid_input_type");
    EXPECT_EQ(value(nullptr), "invalid_input_type");
    EXPECT_EQ(value("inf"), "value_bigger_than_max");
    EXPECT_EQ(value("-inf"), "value_smaller_than_min");
    EXPECT_EQ(value(1.0000001), "value_bigger_than_max");
    EXPECT_EQ(value(true), "");
}

TEST_F(ValidationTest, WantsLinksWhereOnlyLinksMakeSense) {
    const auto faults = faults_of("ImageInvert", {{"image", "picture.png"}});
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].type, "invalid_input_type");
    EXPECT_THAT(faults[0].details, HasSubstr("a link to an output of type IMAGE"));
}

TEST_F(ValidationTest, NamesFoldersAndSimilarFilesForAMissingModel) {
    const auto faults = faults_of("CheckpointLoaderSimple", {{"ckpt_name", "b.safetensor"}});
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].type, "value_not_in_list");
    EXPECT_THAT(faults[0].message, HasSubstr((recorded_.root() / "models/checkpoints").string()));
    EXPECT_EQ(faults[0].hint, "similar names: b.safetensors");
    EXPECT_THAT(faults[0].to_json()["message"].get<std::string>(), HasSubstr(faults[0].hint));
    const auto strange = faults_of("CheckpointLoaderSimple", {{"ckpt_name", "zzz"}});
    EXPECT_EQ(strange.at(0).hint, "present: a.ckpt, b.safetensors, more/c.safetensors");
}

TEST_F(ValidationTest, SaysWhereToPutTheFirstModel) {
    const Folders empty({.model_roots = {recorded_.root() / "nothing"}});
    const auto report =
        validate(
            workflow_of(
                R"({"1":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"a.ckpt"}},
                                 "2":{"class_type":"VAEDecode","inputs":{"vae":["1",2],"samples":["3",0]}},
                                 "3":{"class_type":"EmptyLatentImage","inputs":{"width":64,"height":64,"batch_size":1}},
                                 "4":{"class_type":"PreviewImage","inputs":{"images":["2",0]}}})"),
            catalogue_, empty)
            .report;
    EXPECT_EQ(of_node(report, "1").faults.at(0).hint, "put a.ckpt into one of these folders");
}

TEST_F(ValidationTest, FindsModelsThatCameAMomentAgo) {
    EXPECT_EQ(faults_of("VAELoader", {{"vae_name", "new.pt"}}).size(), 1U);
    recorded_.root().write("models/vae/new.pt", "");
    EXPECT_EQ(faults_of("VAELoader", {{"vae_name", "new.pt"}}).size(), 0U);
}

TEST_F(ValidationTest, RefusesNamesThatAreKnownButNotAvailable) {
    const auto type =
        faults_of("UNETLoader", {{"unet_name", "d.safetensors"}, {"weight_dtype", "fp8_e5m2"}});
    const auto of = [](const std::vector<Fault>& faults, const std::string& input) {
        for (const auto& fault : faults)
            if (fault.input == input) return fault;
        return Fault{};
    };
    EXPECT_THAT(of(type, "weight_dtype").message, HasSubstr("not available yet"));
    EXPECT_THAT(of(type, "weight_dtype").hint, HasSubstr("default"));
    const auto sampler = faults_of("KSamplerSelect", {{"sampler_name", "dpm_fast"}});
    EXPECT_THAT(of(sampler, "sampler_name").message, HasSubstr("not available yet"));
    EXPECT_THAT(of(sampler, "sampler_name").hint, HasSubstr("dpmpp_2m"));
    const auto unknown = faults_of("KSamplerSelect", {{"sampler_name", "xyz"}});
    EXPECT_THAT(of(unknown, "sampler_name").hint, HasSubstr("euler"));
    EXPECT_THAT(of(faults_of("VAELoader", {{"vae_name", "pixel_space"}}), "vae_name").hint,
                HasSubstr("vae folder"));
}

TEST_F(ValidationTest, SaysWhatToDoAboutEachKindOfFault) {
    EXPECT_EQ(faults_of_image({{"width", 0}}).at(0).hint, "use a whole number from 1 to 16384");
    EXPECT_EQ(faults_of("SolidMask", {{"value", 2}, {"width", 1}, {"height", 1}}).at(0).hint,
              "use a number from 0.0 to 1.0");
    EXPECT_THAT(faults_of("ImageInvert", Json::object()).at(0).hint, HasSubstr("type IMAGE"));
    const auto picture = faults_of("LoadImage", {{"image", "rbg.png"}}).at(0);
    EXPECT_THAT(picture.message, HasSubstr("no such file in"));
    EXPECT_THAT(picture.hint, HasSubstr("rgb.png"));
}

TEST_F(ValidationTest, ChecksWherePicturesWouldGo) {
    const auto faults_of_prefix = [&](const std::string& prefix) {
        const Json document = {
            {"1",
             {{"class_type", "EmptyImage"},
              {"inputs", {{"width", 16}, {"height", 8}, {"batch_size", 1}, {"color", 0}}}}},
            {"2",
             {{"class_type", "SaveImage"},
              {"inputs", {{"images", Json::array({"1", 0})}, {"filename_prefix", prefix}}}}}};
        const auto report = validated(*workflow_from_json(document)).report;
        return report.node_faults.empty() ? std::vector<Fault>{} : report.node_faults[0].faults;
    };
    for (const auto* good : {"x", "a/b", "%year%-%month%-%day%/x", "folder/", "made"})
        EXPECT_TRUE(faults_of_prefix(good).empty()) << good;
    const std::string with_tokens = std::string(240, 'x') + "%year%";
    EXPECT_TRUE(faults_of_prefix(with_tokens).empty()) << "tokens get shorter";
    for (const auto& bad : {std::string("../x"), std::string("/tmp/x"), std::string("a/../../x"),
                            std::string("a\0b", 3), std::string(245, 'x'),
                            std::string(256, 'x') + "/y", std::string("made.png/x")}) {
        const auto faults = faults_of_prefix(bad);
        ASSERT_EQ(faults.size(), 1U) << bad;
        EXPECT_EQ(faults[0].input, "filename_prefix");
        EXPECT_FALSE(faults[0].hint.empty());
    }
}

TEST_F(ValidationTest, SuggestsAClassForAnUnknownOne) {
    const auto report = validated(R"({"1":{"class_type":"Ksampler","inputs":{}}})").report;
    EXPECT_EQ(report.refusal->type, "invalid_prompt");
    EXPECT_THAT(report.refusal->message, HasSubstr("Ksampler"));
    EXPECT_THAT(report.refusal->hint, HasSubstr("KSampler"));
    EXPECT_THAT(validated(R"({"1":{"class_type":"Zzz"}})").report.refusal->hint,
                HasSubstr("extension packs"));
}

TEST_F(ValidationTest, AllowsNodesWithoutInputsToHaveNone) {
    EXPECT_TRUE(validated(R"({
        "1":{"class_type":"DisableNoise"},
        "2":{"class_type":"EmptyImage","inputs":{"width":8,"height":8,"batch_size":1,"color":0}},
        "3":{"class_type":"PreviewImage","inputs":{"images":["2",0]}}})")
                    .report.is_clean());
    EXPECT_THAT(faults_of("DisableNoise", Json()), ElementsAre());
}

TEST_F(ValidationTest, AcceptsAnAbsentOrNullOptionalInput) {
    const std::vector<NodeDeclaration> nodes{{.class_type = "A",
                                              .category = "t",
                                              .role = Role::output,
                                              .inputs = {optional(link("mask", "MASK"))}}};
    for (const char* inputs : {"{}", R"({"mask":null})"}) {
        const auto [report, workflow] = validate(
            workflow_of(fmt::format(R"({{"1":{{"class_type":"A","inputs":{}}}}})", inputs)),
            NodeCatalogue(nodes), recorded_.folders());
        EXPECT_TRUE(report.is_clean());
        EXPECT_TRUE(workflow.nodes.at(0).inputs.empty());
    }
}

TEST_F(ValidationTest, KeepsValidNodesThatNoOutputNeeds) {
    const auto [report, workflow] = validated(R"({
        "1":{"class_type":"EmptyImage","inputs":{"width":8,"height":8,"batch_size":1,"color":0}},
        "2":{"class_type":"PreviewImage","inputs":{"images":["1",0]}},
        "3":{"class_type":"ImageInvert","inputs":{"image":["1",0]}},
        "4":{"class_type":"ImageInvert","inputs":{}}})");
    EXPECT_TRUE(report.is_clean());
    ASSERT_EQ(workflow.nodes.size(), 3U);
    EXPECT_EQ(std::get<Link>(workflow.nodes[2].inputs[0].value), (Link{0, 0}));
}

TEST_F(ValidationTest, WritesTheDocumentWithConvertedConstants) {
    std::vector<NodeDeclaration> nodes = catalogue_.all();
    nodes.push_back({.class_type = "Show",
                     .category = "t",
                     .role = Role::output,
                     .inputs = {link("any", "*")}});
    const auto workflow =
        validate(
            workflow_of(
                R"({"1":{"inputs":{"any":{"__value__":["x",1]}},"class_type":"Show","_meta":{"title":"T"}},
            "2":{"class_type":"SolidMask","inputs":{"value":1,"width":"8","height":8,"else":"kept"}},
            "3":{"class_type":"Show","inputs":{"any":["2",0]}}})"),
            NodeCatalogue(nodes), recorded_.folders())
            .workflow;
    EXPECT_EQ(
        workflow.document().dump(),
        R"({"1":{"inputs":{"any":{"__value__":["x",1]}},"class_type":"Show","_meta":{"title":"T"}},)"
        R"("2":{"class_type":"SolidMask","inputs":{"value":1.0,"width":8,"height":8,"else":"kept"}},)"
        R"("3":{"class_type":"Show","inputs":{"any":["2",0]}}})");
}

TEST(TypeCompatibility, FollowsNamesListsAndWildcards) {
    using ballast::graph::Presence;
    for (const auto& [received, wanted, expected] :
         std::vector<std::tuple<const char*, const char*, bool>>{{"IMAGE", "IMAGE", true},
                                                                 {"IMAGE", "MASK", false},
                                                                 {"*", "MASK", true},
                                                                 {"IMAGE", "*", true},
                                                                 {"IMAGE,MASK", "MASK", true},
                                                                 {"IMAGE", "FLOAT, IMAGE", true},
                                                                 {"IMAGE", "FLOAT,*", true},
                                                                 {"", "IMAGE", false}}) {
        const std::vector<NodeDeclaration> nodes{
            {.class_type = "From", .category = "t", .outputs = {{.type = received}}},
            {.class_type = "To",
             .category = "t",
             .role = Role::output,
             .inputs = {link("x", wanted)}}};
        const auto report = validate(workflow_of(R"({"1":{"class_type":"From","inputs":{}},
                                                     "2":{"class_type":"To","inputs":{"x":["1",0]}}})"),
                                     NodeCatalogue(nodes), Folders({}))
                                .report;
        EXPECT_EQ(report.is_clean(), expected) << received << " -> " << wanted;
    }
}

TEST_F(ValidationTest, TurnsIntoOneErrorForTheCommandLine) {
    const auto report = validated(R"({
        "1":{"class_type":"EmptyImage","inputs":{"width":0,"height":8,"batch_size":"many","color":0}},
        "3":{"class_type":"SaveImage","inputs":{"images":["1",0]}}})")
                            .report;
    const auto error = to_error(report);
    EXPECT_EQ(error.code, Code::bad_workflow);
    EXPECT_EQ(
        to_string(error),
        "cannot run the workflow: node 1, width: Value 0 smaller than min of 1: width; node 1 "
        "(EmptyImage), input batch_size: The value cannot be used as INT: batch_size, many, not "
        "a whole number; node 3 (SaveImage), input filename_prefix: Required input is missing: "
        "filename_prefix");
    const auto unknown = to_error(validated(R"({"1":{"class_type":"SaveImages"}})").report);
    EXPECT_EQ(to_string(unknown),
              "cannot run the workflow: There is no node class SaveImages: Node ID '#1'");
    EXPECT_EQ(unknown.hint, "similar names: SaveImage");
}

TEST_F(ValidationTest, ListsTwentyFaultsAndCountsTheRest) {
    std::vector<WorkflowNode> nodes;
    for (int i = 0; i < 25; ++i)
        nodes.push_back({.id = fmt::format("{}", i),
                         .body = json(R"({"class_type":"PreviewImage","inputs":{}})")});
    EXPECT_THAT(to_error(validated(Workflow(std::move(nodes))).report).why,
                HasSubstr("and 5 more faults"));
}

}  // namespace
}  // namespace ballast::graph
