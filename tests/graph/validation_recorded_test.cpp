// Validation against what the original server answered.

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

using testing::RecordedFolders;

/// What clients rely on: type, details, the members of extra_info; not the wording. Details that
/// quote an exception of the original's language are its wording, too.
Json essence(const Json& fault) {
    Json result = {{"type", fault.at("type")}, {"details", fault.at("details")}};
    const std::string type = fault.at("type");
    std::string details = fault.at("details");
    if (type == "invalid_input_type")
        details = details.substr(
            0, details.rfind(fault.at("extra_info").at("exception_message").get<std::string>()));
    if (type.starts_with("exception_during") && !details.starts_with('\'')) details = "<wording>";
    result["details"] = details;
    std::set<std::string> members;
    for (const auto& [name, value] : fault.at("extra_info").items()) members.insert(name);
    result["extra_info"] = members;
    return result;
}

Json essence_of_node_errors(const Json& node_errors) {
    std::map<std::string, Json> nodes;
    for (const auto& [id, node] : node_errors.items()) {
        std::vector<std::string> errors;
        for (const auto& error : node.at("errors")) errors.push_back(essence(error).dump());
        std::sort(errors.begin(), errors.end());  // the original checks inputs in any order
        nodes[id] = {{"errors", errors},
                     {"dependent_outputs", node.at("dependent_outputs")},
                     {"class_type", node.at("class_type")}};
    }
    return nodes;
}

Validation validate_body(const Json& body, const Folders& folders) {
    const auto workflow = workflow_from_json(body);
    if (!workflow) throw std::invalid_argument(to_string(workflow.error()));
    Targets targets;
    if (body.contains("partial_execution_targets"))
        targets = body["partial_execution_targets"].get<std::vector<std::string>>();
    return validate(*workflow, standard_catalogue(), folders, targets);
}

TEST(RecordedValidation, AgreesOnEveryPrompt) {
    const RecordedFolders recorded;
    const Json prompts = testing::recorded("golden/api/prompts.json");
    ASSERT_EQ(prompts.size(), 45U);
    for (const auto& [name, prompt] : prompts.items()) {
        SCOPED_TRACE(name);
        const auto report = validate_body(prompt.at("body"), recorded.folders()).report;
        EXPECT_EQ(report.refusal.has_value(), prompt.at("status") == 400);
        const Json& expected = prompt.at("reply");
        if (report.refusal) {
            EXPECT_EQ(Json(report.refusal->type), expected.at("error").at("type"));
            if (report.node_faults.empty()) {
                EXPECT_EQ(Json(report.refusal->details), expected.at("error").at("details"));
            }
        }
        // The original loses track of cycles; ours are tested on their own.
        if (name == "cycle" || name == "self_link") continue;
        EXPECT_EQ(essence_of_node_errors(report.node_errors()),
                  essence_of_node_errors(expected.at("node_errors")));
    }
}

TEST(RecordedValidation, AgreesOnEveryPublishedWorkflow) {
    const Json workflows = testing::recorded("golden/workflows/validation.json");
    ASSERT_GE(workflows.size(), 5U);
    for (const auto& [name, recorded] : workflows.items()) {
        SCOPED_TRACE(name);
        const testing::TemporaryFolder root;
        for (const auto& file : recorded.at("files_needed")) {
            const std::string path = file;
            root.write(path.starts_with("input/") ? path : "models/" + path, "");
        }
        const Folders folders({.model_roots = {root / "models"}, .input = root / "input"});
        const auto report = validate_body(recorded.at("prompt"), folders).report;
        EXPECT_EQ(report.is_clean(), recorded.at("valid").get<bool>());
        EXPECT_EQ(Json(report.outputs), recorded.at("outputs_to_execute"));
    }
}

}  // namespace
}  // namespace ballast::graph
