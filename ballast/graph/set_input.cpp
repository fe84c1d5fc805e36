#include "ballast/graph/set_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

#include "ballast/engine/core/utf8.hpp"
#include "ballast/graph/near_names.hpp"

namespace ballast::graph {

namespace {

struct Assignment {
    std::string_view node;
    std::string_view input;
    std::string_view value;
};

Error unusable(std::string_view assignment, std::string why, std::string hint = {}) {
    return {.code = Code::usage,
            .what = "cannot set the input",
            .why = std::move(why),
            .place = {.key = std::string{assignment}},
            .hint = std::move(hint)};
}

/// Node ids may hold dots, names of inputs do not: the last dot before '=' parts them.
Result<Assignment> taken_apart(std::string_view text) {
    const auto equals = text.find('=');
    const auto target = text.substr(0, equals);
    const auto dot = target.rfind('.');
    const bool is_complete = equals != std::string_view::npos && dot != std::string_view::npos &&
                             dot != 0 && dot + 1 != target.size();
    if (!is_complete)
        return fail(unusable(text, "this has not the form NODE.INPUT=VALUE",
                             "for example 3.steps=12, or 6.text='a red circle'"));
    return Assignment{target.substr(0, dot), target.substr(dot + 1), text.substr(equals + 1)};
}

std::string similar_or_all(std::string_view name, const std::vector<std::string>& names) {
    if (const auto near = near_names(name, names); !near.empty()) return "similar: " + joined(near);
    constexpr std::size_t kListed = 20;
    const auto count = std::min(names.size(), kListed);
    return count == 0 ? std::string{}
                      : "there are: " + joined(std::span{names}.first(count)) +
                            (names.size() > count ? ", ..." : "");
}

Error no_such_node(std::string_view assignment, std::string_view id, const Workflow& workflow) {
    std::vector<std::string> ids;
    for (const auto& node : workflow.nodes()) ids.push_back(node.id);
    std::string hint = similar_or_all(id, ids);
    // People also try the class, which tells the id if there is only one such node.
    for (const auto& node : workflow.nodes())
        if (const auto* class_type = node.class_type(); class_type && *class_type == id)
            hint = fmt::format("node {} is a {}", node.id, id);
    return unusable(assignment, fmt::format("there is no node {}", id), std::move(hint));
}

std::vector<std::string> input_names(const WorkflowNode& node, const NodeDeclaration* declaration) {
    std::vector<std::string> names;
    if (declaration != nullptr) {
        for (const auto& input : declaration->inputs)
            if (!input.is_hidden()) names.push_back(input.name);
    } else if (const Json* inputs = node.inputs()) {
        for (const auto& [name, value] : inputs->get_ref<const Json::object_t&>())
            names.push_back(name);
    }
    return names;
}

bool is_link_shaped(const Json& value) {
    return value.is_array() && value.size() == 2 && value[0].is_string() &&
           value[1].is_number_unsigned();
}

/// True where "12" means the text 12: in prompts, file names and choices.
bool takes_text(const InputDeclaration* input) {
    return input != nullptr && (std::holds_alternative<TextField>(input->field) ||
                                std::holds_alternative<ChoiceField>(input->field));
}

Json read_value(std::string_view text, const InputDeclaration* input) {
    auto parsed = parse_json(text);
    if (!parsed) return std::string{text};
    const bool is_meant = !takes_text(input) || parsed->is_string() || is_link_shaped(*parsed);
    return is_meant ? *std::move(parsed) : Json(std::string{text});
}

}  // namespace

Result<void> set_input(Workflow& workflow, std::string_view assignment,
                       const NodeCatalogue& catalogue) {
    const auto parts = taken_apart(assignment);
    if (!parts) return fail(parts.error());
    if (!is_utf8(parts->value)) return fail(unusable(assignment, "the value is not UTF-8"));
    const auto index = workflow.index_of(parts->node);
    if (!index) return fail(no_such_node(assignment, parts->node, workflow));
    const auto& node = workflow.nodes()[*index];
    const std::string* class_type = node.class_type();
    const auto* declaration = class_type != nullptr ? catalogue.find(*class_type) : nullptr;
    const auto names = input_names(node, declaration);
    if (std::find(names.begin(), names.end(), parts->input) == names.end())
        return fail(unusable(assignment,
                             fmt::format("node {} ({}) has no input {}", parts->node,
                                         class_type != nullptr ? *class_type : "?", parts->input),
                             similar_or_all(parts->input, names)));
    const auto* input = declaration != nullptr ? declaration->input(parts->input) : nullptr;
    workflow.set_input(*index, parts->input, read_value(parts->value, input));
    return {};
}

}  // namespace ballast::graph
