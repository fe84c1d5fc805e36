#include "ballast/graph/workflow.hpp"

#include <fmt/format.h>

#include <utility>

namespace ballast::graph {

namespace {

constexpr std::string_view kWrapped = "__value__";

/// The editor's save format has a list of nodes where the API format has nodes by id.
bool is_editor_format(const Json& document) {
    const Json* nodes = find_member(document, "nodes");
    return (nodes != nullptr && nodes->is_array()) ||
           (find_member(document, "last_node_id") != nullptr &&
            find_member(document, "links") != nullptr);
}

/// The body of a submission, as against a workflow one of whose nodes is called "prompt".
bool is_submission(const Json& document) {
    const Json* prompt = find_member(document, "prompt");
    return prompt != nullptr && find_member(*prompt, "class_type") == nullptr;
}

Error refused(const std::string& source, std::string why) {
    return {.code = Code::bad_workflow,
            .what = "cannot use the workflow",
            .why = std::move(why),
            .place = {.file = source}};
}

Error editor_format(const std::string& source) {
    Error error = refused(source, "it is saved in the editor's own format, not in the API format");
    error.hint =
        "in ComfyUI's editor choose Workflow > Export (API) (in older versions: Settings > enable "
        "dev mode, then Save (API Format)) and use the file that it writes; a picture made by the "
        "workflow works as well";
    return error;
}

}  // namespace

const std::string* WorkflowNode::class_type() const {
    const Json* name = find_member(body, "class_type");
    return name != nullptr ? name->get_ptr<const std::string*>() : nullptr;
}

const Json* WorkflowNode::inputs() const {
    const Json* inputs = find_member(body, "inputs");
    return inputs != nullptr && inputs->is_object() ? inputs : nullptr;
}

const Json& unwrapped(const Json& value) {
    const Json* inner = find_member(value, kWrapped);
    return inner != nullptr ? *inner : value;
}

Workflow::Workflow(std::vector<WorkflowNode> nodes, Json extra_data)
    : nodes_(std::move(nodes)), extra_data_(std::move(extra_data)) {
    index_.reserve(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) index_.emplace(nodes_[i].id, i);
}

const WorkflowNode* Workflow::find(std::string_view id) const {
    const auto index = index_of(id);
    return index ? &nodes_[*index] : nullptr;
}

std::optional<std::size_t> Workflow::index_of(std::string_view id) const {
    const auto found = index_.find(std::string{id});
    if (found == index_.end()) return std::nullopt;
    return found->second;
}

const Json* Workflow::extra_pnginfo() const { return find_member(extra_data_, "extra_pnginfo"); }

void Workflow::set_input(std::size_t node, std::string_view input, Json value) {
    Json& body = nodes_.at(node).body;
    if (!body.is_object()) body = Json::object();
    Json& inputs = body["inputs"];
    if (!inputs.is_object()) inputs = Json::object();
    inputs[std::string{input}] = std::move(value);
}

Json Workflow::to_json() const {
    Json document = Json::object();
    for (const auto& node : nodes_) append_member(document, node.id, node.body);
    return document;
}

Result<Workflow> workflow_from_json(Json document, const std::string& source) {
    if (!document.is_object())
        return fail(refused(source, fmt::format("its outermost value is not an object but {}",
                                                document.type_name())));
    if (is_editor_format(document)) return fail(editor_format(source));
    Json extra_data = Json::object();
    if (is_submission(document)) {
        if (document.contains("extra_data") && document["extra_data"].is_object())
            extra_data = std::move(document["extra_data"]);
        Json prompt = std::move(document["prompt"]);
        document = std::move(prompt);
        if (!document.is_object())
            return fail(refused(source, fmt::format("its member \"prompt\" is not an object but {}",
                                                    document.type_name())));
        if (is_editor_format(document)) return fail(editor_format(source));
    }
    std::vector<WorkflowNode> nodes;
    auto& members = document.get_ref<Json::object_t&>();
    nodes.reserve(members.size());
    for (auto& [id, body] : members) nodes.push_back({.id = id, .body = std::move(body)});
    return Workflow{std::move(nodes), std::move(extra_data)};
}

Result<Workflow> workflow_from_text(std::string_view text, const std::string& source) {
    return parse_json(text, source).and_then([&](Json document) {
        return workflow_from_json(std::move(document), source);
    });
}

}  // namespace ballast::graph
