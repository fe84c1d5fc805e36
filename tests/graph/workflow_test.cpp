#include "ballast/graph/workflow.hpp"

#include <gmock/gmock.h>

#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

using ::testing::HasSubstr;
using testing::workflow_of;

std::vector<std::string> ids(const Workflow& workflow) {
    std::vector<std::string> result;
    for (const auto& node : workflow.nodes()) result.push_back(node.id);
    return result;
}

TEST(Workflow, KeepsNodesInDocumentOrder) {
    const auto workflow = workflow_of(R"({"9":{"class_type":"A"},"1":{"class_type":"B"}})");
    EXPECT_EQ(ids(workflow), (std::vector<std::string>{"9", "1"}));
    EXPECT_EQ(*workflow.find("1")->class_type(), "B");
    EXPECT_EQ(workflow.find("2"), nullptr);
    EXPECT_EQ(workflow.index_of("1"), 1U);
}

TEST(Workflow, IsWrittenAsItWasRead) {
    const char* text =
        R"({"9":{"class_type":"A","inputs":{"z":1,"a":["1",0]},"_meta":{"title":"T"}},"1":7})";
    EXPECT_EQ(workflow_of(text).to_json().dump(), text);
}

TEST(Workflow, IsReadFromTheBodyOfASubmission) {
    const auto workflow = workflow_of(
        R"({"client_id":"c","prompt":{"1":{"class_type":"A"}},
            "extra_data":{"extra_pnginfo":{"workflow":{"id":"w"}}}})");
    EXPECT_EQ(ids(workflow), std::vector<std::string>{"1"});
    EXPECT_EQ(workflow.extra_pnginfo()->dump(), R"({"workflow":{"id":"w"}})");
    EXPECT_EQ(workflow_of(R"({"prompt":{},"extra_data":5})").extra_data(), Json::object());
    EXPECT_EQ(workflow_of("{}").extra_pnginfo(), nullptr);
}

TEST(Workflow, MayCallANodePrompt) {
    const auto workflow = workflow_of(R"({"prompt":{"class_type":"A"},"1":{"class_type":"B"}})");
    EXPECT_EQ(ids(workflow), (std::vector<std::string>{"prompt", "1"}));
}

TEST(Workflow, InTheEditorsFormatIsRefusedWithTheWayToExportIt) {
    const Json file = testing::recorded("cases/24-workflow-ui-format.json");
    for (const Json& document :
         {file, file.at("prompt"), testing::json(R"({"nodes":[],"links":[],"version":0.4})"),
          testing::json(R"({"last_node_id":3,"links":[]})")}) {
        const auto workflow = workflow_from_json(document, "saved.json");
        ASSERT_FALSE(workflow);
        EXPECT_EQ(workflow.error().code, Code::bad_workflow);
        EXPECT_EQ(workflow.error().place.file, "saved.json");
        EXPECT_THAT(workflow.error().why, HasSubstr("API format"));
        EXPECT_THAT(workflow.error().hint, HasSubstr("Export (API)"));
    }
}

TEST(Workflow, RefusesOtherDocuments) {
    for (const char* text : {"[]", "null", "7", "\"text\"", R"({"prompt":[1,2]})",
                             R"({"prompt":null})", R"({"prompt":"text"})"}) {
        const auto workflow = workflow_from_text(text);
        ASSERT_FALSE(workflow) << text;
        EXPECT_EQ(workflow.error().code, Code::bad_workflow) << text;
    }
    EXPECT_THAT(workflow_from_text("{\n,}", "w.json").error().why, HasSubstr("line 2, column 1"));
}

TEST(Workflow, LeavesFaultyNodesToValidation) {
    const auto workflow = workflow_of(R"({"1":"text","2":{"class_type":5,"inputs":[]},"3":{}})");
    for (const char* id : {"1", "2", "3"}) {
        EXPECT_EQ(workflow.find(id)->class_type(), nullptr);
        EXPECT_EQ(workflow.find(id)->inputs(), nullptr);
    }
}

TEST(Workflow, TellsLinksFromWrappedLists) {
    EXPECT_TRUE(is_link(testing::json(R"(["1",0])")));
    EXPECT_TRUE(is_link(testing::json("[1,2,3]")));
    const Json wrapped = testing::json(R"({"__value__":[1,2]})");
    EXPECT_FALSE(is_link(wrapped));
    EXPECT_EQ(unwrapped(wrapped), testing::json("[1,2]"));
    EXPECT_EQ(unwrapped(Json(5)), Json(5));
}

TEST(Workflow, SetsInputs) {
    auto workflow = workflow_of(R"({"1":{"class_type":"A","inputs":{"a":1}},"2":{}})");
    workflow.set_input(0, "a", 2);
    workflow.set_input(0, "b", "x");
    workflow.set_input(1, "c", nullptr);
    EXPECT_EQ(workflow.to_json().dump(),
              R"({"1":{"class_type":"A","inputs":{"a":2,"b":"x"}},"2":{"inputs":{"c":null}}})");
}

}  // namespace
}  // namespace ballast::graph
