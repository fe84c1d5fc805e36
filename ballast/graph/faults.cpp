#include "ballast/graph/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "ballast/graph/near_names.hpp"
#include "ballast/graph/node_description.hpp"
#include "ballast/graph/python_text.hpp"

namespace ballast::graph::faults {

namespace {

/// Longer lists of choices are left out of replies, as clients expect.
constexpr std::size_t kListedOptions = 20;

Fault at_input(const Input& input, std::string type, std::string message, std::string details,
               const Json& value) {
    return {.type = std::move(type),
            .message = std::move(message),
            .details = std::move(details),
            .extra_info = {{"input_name", input.name()},
                           {"input_config", input.config()},
                           {"received_value", value}},
            .input = input.name()};
}

/// The shape that faults of links have in the original, where they are exceptions by name.
Fault bad_link(const Input& input, const Json& link, Level level, const char* exception_type,
               std::string message, std::string details) {
    Fault fault{
        .message = std::move(message), .details = std::move(details), .input = input.name()};
    if (level == Level::output) {
        fault.type = "exception_during_validation";
        fault.extra_info = {{"exception_type", exception_type}, {"traceback", Json::array()}};
    } else {
        fault.type = "exception_during_inner_validation";
        fault.extra_info = {
            {"input_name", input.name()},         {"input_config", input.config()},
            {"exception_message", fault.details}, {"exception_type", exception_type},
            {"traceback", Json::array()},         {"linked_node", link}};
    }
    return fault;
}

std::string named(const WorkflowNode& node) {
    const std::string* class_type = node.class_type();
    return fmt::format("{} ({})", node.id, class_type != nullptr ? *class_type : "?");
}

std::string outputs_of(const NodeDeclaration& node) {
    if (node.outputs.empty()) return "no outputs";
    std::string text;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", i, node.outputs[i].shown_name());
    return (node.outputs.size() == 1 ? "one output: " : "these outputs: ") + text;
}

std::string similar_to(const Json& value, std::span<const std::string> names) {
    const auto near = near_names(python_str(value), names);
    return near.empty() ? std::string{} : "similar names: " + joined(near);
}

/// "use a number from 1 to 10000", "use true or false".
std::string range_hint(const InputDeclaration& input) {
    const auto said = [](std::string_view kind, const Json& least, const Json& most) {
        return fmt::format("use a {} from {} to {}", kind, python_str(least), python_str(most));
    };
    if (const auto* whole = std::get_if<IntegerField>(&input.field))
        return said("whole number", to_json(whole->min), to_json(whole->max));
    if (const auto* number = std::get_if<NumberField>(&input.field))
        return said("number", number->min, number->max);
    const auto* toggle = std::get_if<ToggleField>(&input.field);
    return toggle != nullptr && toggle->truth == Truth::literal ? "use true or false"
                                                                : std::string{};
}

}  // namespace

Json Input::config() const {
    Json config = describe(declaration, node.generation, folders);
    if (config.size() == 1) config.push_back(Json::object());
    return config;
}

Fault no_class_type(const std::string& node) {
    return {.type = "invalid_prompt",
            .message = fmt::format("Node {} has no class_type", node),
            .details = fmt::format("Node ID '#{}'", node),
            .hint = "every node of the API format is an object with class_type and inputs"};
}

Fault unknown_class(const std::string& node, const std::string& class_type,
                    const NodeCatalogue& catalogue) {
    std::vector<std::string> names;
    for (const auto& declaration : catalogue.all()) names.push_back(declaration.class_type);
    std::string hint = similar_to(class_type, names);
    if (hint.empty())
        hint = "classes of extension packs, and those not ported yet, cannot run here";
    return {.type = "invalid_prompt",
            .message = fmt::format("There is no node class {}", class_type),
            .details = fmt::format("Node ID '#{}'", node),
            .hint = std::move(hint)};
}

Fault no_outputs() {
    return {.type = "prompt_no_outputs",
            .message = "The workflow has no output node",
            .hint = "add a node that shows or saves something, such as SaveImage"};
}

Fault outputs_failed(std::string details) {
    return {.type = "prompt_outputs_failed_validation",
            .message = "No output of the workflow can run",
            .details = std::move(details)};
}

Fault missing(const NodeDeclaration& node, const InputDeclaration& input) {
    return {.type = "required_input_missing",
            .message = "Required input is missing",
            .details = input.name,
            .extra_info = {{"input_name", input.name}},
            .input = input.name,
            .hint = input.is_link_only()
                        ? fmt::format("link {} of {} to an output of type {}: [\"<node id>\", "
                                      "<output index>]",
                                      input.name, node.class_type, input.type())
                        : fmt::format("give {} of {} a value of type {}", input.name,
                                      node.class_type, input.type())};
}

Fault not_convertible(const Input& input, const Json& value, const std::string& why) {
    Fault fault = at_input(input, "invalid_input_type",
                           fmt::format("The value cannot be used as {}", input.declaration.type()),
                           fmt::format("{}, {}, {}", input.name(), python_str(value), why), value);
    fault.extra_info["exception_message"] = why;
    fault.hint = range_hint(input.declaration);
    return fault;
}

Fault link_expected(const Input& input, const Json& value) {
    return not_convertible(input, value,
                           fmt::format("a link to an output of type {} is needed: "
                                       "[\"<node id>\", <output index>]",
                                       input.declaration.type()));
}

Fault below_min(const Input& input, const Json& value, const Json& bound) {
    Fault fault = at_input(
        input, "value_smaller_than_min",
        fmt::format("Value {} smaller than min of {}", python_str(value), python_str(bound)),
        input.name(), value);
    fault.hint = range_hint(input.declaration);
    return fault;
}

Fault above_max(const Input& input, const Json& value, const Json& bound) {
    Fault fault = at_input(
        input, "value_bigger_than_max",
        fmt::format("Value {} bigger than max of {}", python_str(value), python_str(bound)),
        input.name(), value);
    fault.hint = range_hint(input.declaration);
    return fault;
}

Fault not_offered(const Input& input, const Json& value, std::span<const std::string> options) {
    const bool is_long = options.size() > kListedOptions;
    Fault fault{.type = "value_not_in_list",
                .message = "Value not in list",
                .details = fmt::format("{}: '{}' not in {}", input.name(), python_str(value),
                                       is_long ? fmt::format("(list of length {})", options.size())
                                               : python_list(options)),
                .extra_info = {{"input_name", input.name()},
                               {"input_config", is_long ? Json() : input.config()},
                               {"received_value", value}},
                .input = input.name(),
                .hint = similar_to(value, options)};
    const auto& field = std::get<ChoiceField>(input.declaration.field);
    if (const auto* files = std::get_if<ModelFiles>(&field.from)) {
        std::vector<std::string> searched;
        for (const auto& folder : input.folders.searched(files->folder))
            searched.push_back(folder.string());
        fault.message = fmt::format("No such file among the {} in {}", files->folder,
                                    searched.empty() ? "no folder" : joined(searched));
        // a pipe or a dangling link of that name is there, but it is no file
        const auto path = input.folders.model_path(files->folder, python_str(value));
        if (!path && value.is_string() && path.error().place.file != python_str(value)) {
            fault.message = fmt::format("{}: {}", path.error().place.file, path.error().why);
            fault.hint = path.error().hint;
        }
        if (fault.hint.empty())
            fault.hint = options.empty()
                             ? fmt::format("put {} into one of these folders", python_str(value))
                             : "present: " + joined(options.first(std::min<std::size_t>(
                                                 options.size(), kListedOptions)));
    }
    if (std::holds_alternative<PresentDevices>(field.from)) {
        fault.message = fmt::format("This machine has no device '{}'", python_str(value));
        fault.hint = "present: " + joined(options);
    }
    if (fault.hint.empty()) fault.hint = field.instead;
    if (fault.hint.empty() && !is_long && !options.empty())
        fault.hint = "use one of: " + joined(options);
    return fault;
}

Fault not_available(const Input& input, const Json& value) {
    return {.type = "value_not_in_list",
            .message = fmt::format("'{}' is not available yet", python_str(value)),
            .details = input.name(),
            .extra_info = {{"input_name", input.name()},
                           {"input_config", input.config()},
                           {"received_value", value}},
            .input = input.name(),
            .hint = std::get<ChoiceField>(input.declaration.field).instead};
}

Fault refused_by_class(const std::string& input, const ClassRefusal& refusal) {
    return {.type = "custom_validation_failed",
            .message = refusal.message,
            .details = fmt::format("{} - {}", input, refusal.details),
            .extra_info = {{"input_name", input}},
            .input = input,
            .hint = refusal.hint};
}

Fault not_a_link(const Input& input, const Json& value) {
    return at_input(input, "bad_linked_input",
                    "A link has the form [node_id, slot_index]; wrap a list that is meant as a "
                    "value: {\"__value__\": [...]}",
                    input.name(), value);
}

Fault other_type(const Input& input, const Json& value, const std::string& received) {
    return {.type = "return_type_mismatch",
            .message = "Return type mismatch between linked nodes",
            .details = fmt::format("{}, received_type({}) mismatch input_type({})", input.name(),
                                   received, input.declaration.type()),
            .extra_info = {{"input_name", input.name()},
                           {"input_config", input.config()},
                           {"received_type", received},
                           {"linked_node", value}},
            .input = input.name(),
            .hint = fmt::format("link {} to an output of type {}", input.name(),
                                input.declaration.type())};
}

Fault cycle(const std::string& node, const Cycle& cycle) {
    std::string path;
    Json ids = Json::array();
    for (const auto* member : cycle.members) {
        const bool is_last = member == cycle.members.back();
        if (is_last && cycle.left_out != 0)
            path += fmt::format("({} more nodes) -> ", cycle.left_out);
        path += named(*member) + " -> ";
        ids.push_back(member->id);
    }
    path += named(*cycle.members.front());
    return {.type = "dependency_cycle",
            .message = "The node depends on its own result",
            .details = std::move(path),
            .extra_info = {{"node_id", node}, {"cycle_nodes", std::move(ids)}}};
}

Fault no_such_node(const Input& input, const Json& value, Level level) {
    const Json& id = value.at(0);
    std::string message = id.is_string()
                              ? fmt::format("Input {} is linked to node {}, which does not exist",
                                            input.name(), id.get<std::string>())
                              : fmt::format("Input {} is linked to node {}: the id must be text",
                                            input.name(), python_repr(id));
    return bad_link(input, value, level, "KeyError", std::move(message), python_repr(id));
}

Fault no_such_output(const Input& input, const Json& value, const NodeDeclaration& source,
                     Level level) {
    const Json& slot = value.at(1);
    const char* kind = slot.is_number_integer() ? "IndexError" : "TypeError";
    std::string message =
        fmt::format("Input {} is linked to an output that does not exist", input.name());
    std::string details =
        fmt::format("{}: output {} of node {} ({}); it has {}", input.name(), python_repr(slot),
                    python_str(value.at(0)), source.class_type, outputs_of(source));
    return bad_link(input, value, level, kind, std::move(message), std::move(details));
}

Fault no_inputs(const Input& via, const Json& link) {
    Fault fault = bad_link(via, link, Level::inner, "KeyError", "The node has no object `inputs`",
                           "'inputs'");
    fault.input.clear();
    return fault;
}

Fault no_inputs_at_output() {
    return {.type = "exception_during_validation",
            .message = "The node has no object `inputs`",
            .details = "'inputs'",
            .extra_info = {{"exception_type", "KeyError"}, {"traceback", Json::array()}}};
}

}  // namespace ballast::graph::faults
