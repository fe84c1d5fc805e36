#include "ballast/graph/set_input.hpp"

#include <gmock/gmock.h>

#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

using ::testing::HasSubstr;
using testing::json;
using testing::workflow_of;

class SetInputTest : public ::testing::Test {
protected:
    /// The input after the assignment.
    Json after(std::string_view assignment, const char* node, const char* input) {
        const auto done = set_input(workflow_, assignment, catalogue_);
        if (!done) throw std::invalid_argument(to_string(done.error()));
        return workflow_.find(node)->body.at("inputs").at(input);
    }
    Error refused(std::string_view assignment) {
        const Json before = workflow_.to_json();
        const auto done = set_input(workflow_, assignment, catalogue_);
        EXPECT_FALSE(done) << assignment;
        EXPECT_EQ(workflow_.to_json(), before);
        return done ? Error{} : done.error();
    }

    NodeCatalogue catalogue_ = standard_catalogue();
    Workflow workflow_ = workflow_of(R"({
        "3":{"class_type":"KSampler","inputs":{"steps":20,"sampler_name":"euler"}},
        "6":{"class_type":"CLIPTextEncode","inputs":{"text":"a","clip":["4",1]}},
        "60:2.x":{"class_type":"EmptyImage","inputs":{"width":8}},
        "7":{"class_type":"Unknown","inputs":{"known":1}},
        "8":{}})");
};

TEST_F(SetInputTest, ReadsValuesAsJson) {
    EXPECT_EQ(after("3.steps=12", "3", "steps"), Json(12));
    EXPECT_EQ(after("3.seed=18446744073709551615", "3", "seed").dump(), "18446744073709551615");
    EXPECT_EQ(after("3.model=[\"4\", 0]", "3", "model"), json(R"(["4",0])"));
    EXPECT_EQ(after("3.denoise=half", "3", "denoise"), Json("half"));
    EXPECT_EQ(after("3.denoise=", "3", "denoise"), Json(""));
}

TEST_F(SetInputTest, TakesTextAsItStands) {
    EXPECT_EQ(after("6.text=true", "6", "text"), Json("true"));
    EXPECT_EQ(after("6.text=12", "6", "text"), Json("12"));
    EXPECT_EQ(after("6.text=a = b, (c:1.2)", "6", "text"), Json("a = b, (c:1.2)"));
    EXPECT_EQ(after("6.text=\"in quotes\\n\"", "6", "text"), Json("in quotes\n"));
    EXPECT_EQ(after("6.text={\"a\": 1}", "6", "text"), Json("{\"a\": 1}"));
    EXPECT_EQ(after("6.text=[1, 2]", "6", "text"), Json("[1, 2]"));
    EXPECT_EQ(after("6.text=[\"5\", 0]", "6", "text"), json(R"(["5",0])"));
    EXPECT_EQ(after("3.sampler_name=heun", "3", "sampler_name"), Json("heun"));
}

TEST_F(SetInputTest, FindsNodesWhoseIdHasADot) {
    EXPECT_EQ(after("60:2.x.width=16", "60:2.x", "width"), Json(16));
}

TEST_F(SetInputTest, AddsInputsThatTheClassDeclares) {
    EXPECT_EQ(after("3.cfg=7.5", "3", "cfg"), Json(7.5));
}

TEST_F(SetInputTest, GoesByTheWorkflowWhereTheClassIsUnknown) {
    EXPECT_EQ(after("7.known=2", "7", "known"), Json(2));
    EXPECT_EQ(refused("7.other=2").hint, "there are: known");
    EXPECT_THAT(refused("8.x=1").why, HasSubstr("node 8 (?) has no input x"));
}

TEST_F(SetInputTest, RefusesUnknownNodesAndNamesSimilarOnes) {
    const auto error = refused("33.steps=12");
    EXPECT_EQ(error.code, Code::usage);
    EXPECT_EQ(error.place.key, "33.steps=12");
    EXPECT_EQ(error.why, "there is no node 33");
    EXPECT_THAT(error.hint, HasSubstr("3, 6"));
    EXPECT_EQ(refused("KSampler.steps=12").hint, "node 3 is a KSampler");
}

TEST_F(SetInputTest, RefusesUnknownInputsAndNamesSimilarOnes) {
    const auto error = refused("3.stesp=12");
    EXPECT_EQ(error.why, "node 3 (KSampler) has no input stesp");
    EXPECT_THAT(error.hint, HasSubstr("steps"));
    EXPECT_THAT(refused("3.prompt=1").why, HasSubstr("no input prompt"));
}

TEST_F(SetInputTest, RefusesBytesThatAreNoText) {
    EXPECT_EQ(refused("6.text=caf\xE9").why, "the value is not UTF-8");
}

TEST_F(SetInputTest, RefusesOtherForms) {
    for (const char* text : {"", "3", "3.steps", "steps=12", ".steps=12", "3.=12", "=", "."})
        EXPECT_THAT(refused(text).why, HasSubstr("NODE.INPUT=VALUE")) << text;
}

}  // namespace
}  // namespace ballast::graph
