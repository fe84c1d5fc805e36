#pragma once
// A workflow as its author wrote it: nodes by id, constants and links, nothing checked but the form
// of the document.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ballast/graph/json.hpp"

namespace ballast::graph {

/// One node. `body` is its JSON as given, with members that mean nothing to us (`_meta`) kept.
struct WorkflowNode {
    std::string id;
    Json body;

    /// Null if the node has none, or one that is not text.
    [[nodiscard]] const std::string* class_type() const;
    /// The object of inputs; null if the node has none.
    [[nodiscard]] const Json* inputs() const;
};

/// True for `[ "<node id>", <output index> ]`, however faulty: every array stands for a link. An
/// array that is meant as a constant is wrapped: {"__value__": [...]}.
inline bool is_link(const Json& value) { return value.is_array(); }

/// A constant without its wrapping, if it has one.
const Json& unwrapped(const Json& value);

/// Nodes in document order, found by id in constant time. A value.
class Workflow {
public:
    Workflow() = default;
    explicit Workflow(std::vector<WorkflowNode> nodes, Json extra_data = Json::object());

    [[nodiscard]] const std::vector<WorkflowNode>& nodes() const { return nodes_; }
    [[nodiscard]] const WorkflowNode* find(std::string_view id) const;
    [[nodiscard]] std::optional<std::size_t> index_of(std::string_view id) const;

    /// `extra_data` of a submission; an empty object for a plain file.
    [[nodiscard]] const Json& extra_data() const { return extra_data_; }
    /// `extra_data.extra_pnginfo`, or null.
    [[nodiscard]] const Json* extra_pnginfo() const;

    /// Replaces or adds an input of an existing node.
    void set_input(std::size_t node, std::string_view input, Json value);

    /// The document again: {"<id>": {...}, ...}.
    [[nodiscard]] Json to_json() const;

private:
    std::vector<WorkflowNode> nodes_;
    std::unordered_map<std::string, std::size_t> index_;
    Json extra_data_ = Json::object();
};

/// Reads the API format: {"<id>": {"class_type", "inputs"}, ...}, or the body of a submission,
/// {"prompt": {...}, "extra_data": {...}}. `source` names the text in errors.
/// Fails with `bad_workflow`: broken JSON (line and column), a document of another kind, or the
/// editor's own save format, with a hint how to export the API format.
Result<Workflow> workflow_from_text(std::string_view text, const std::string& source = {});
Result<Workflow> workflow_from_json(Json document, const std::string& source = {});

}  // namespace ballast::graph
