#include "ballast/graph/node_description.hpp"

#include <variant>

#include "ballast/graph/folders.hpp"

namespace ballast::graph {

namespace {

/// Writes the options of one kind of field, in the order in which the original writes them.
struct OptionWriter {
    Json& options;
    Generation generation;
    const Folders& folders;

    void operator()(const LinkOnly&) const {}
    void operator()(const HiddenField&) const {}
    void operator()(const IntegerField& field) const {
        options["default"] = to_json(field.default_value);
        options["min"] = to_json(field.min);
        options["max"] = to_json(field.max);
        if (field.step) options["step"] = to_json(*field.step);
        if (field.seed == SeedControl::after_generate) options["control_after_generate"] = true;
        if (!field.display.empty()) options["display"] = field.display;
    }
    void operator()(const NumberField& field) const {
        options["default"] = field.default_value;
        options["min"] = field.min;
        options["max"] = field.max;
        options["step"] = field.step;
        if (field.round.kind == Rounding::Kind::to_multiple) options["round"] = field.round.to;
        if (field.round.kind == Rounding::Kind::off) options["round"] = false;
    }
    void operator()(const TextField& field) const {
        if (field.default_value) options["default"] = *field.default_value;
        if (field.lines == Lines::many) {
            options["multiline"] = true;
            options["dynamicPrompts"] = true;
        } else if (generation == Generation::schema) {
            options["multiline"] = false;
        }
    }
    void operator()(const ToggleField& field) const { options["default"] = field.default_value; }
    void operator()(const ChoiceField& field) const {
        if (generation == Generation::schema) {
            options["multiselect"] = false;
            options["options"] = graph::options(field, folders);
        }
        if (!field.default_value.empty()) options["default"] = field.default_value;
        if (std::holds_alternative<InputPictures>(field.from)) options["image_upload"] = true;
    }
};

Json described_type(const InputDeclaration& input, Generation generation, const Folders& folders) {
    const auto* choice = std::get_if<ChoiceField>(&input.field);
    if (choice != nullptr && generation == Generation::classic) return options(*choice, folders);
    return input.type();
}

Json described_hidden(const InputDeclaration& input, Generation generation) {
    return generation == Generation::classic ? Json(input.type()) : Json::array({input.type()});
}

std::string_view section_of(const InputDeclaration& input) {
    if (input.is_hidden()) return "hidden";
    return input.presence == Presence::optional ? "optional" : "required";
}

void add_inputs(Json& entry, const NodeDeclaration& node, const Folders& folders) {
    Json sections = Json::object();
    Json order = Json::object();
    sections["required"] = Json::object();
    order["required"] = Json::array();
    for (const auto& input : node.inputs) {
        if (input.presence == Presence::legacy) continue;
        const std::string section{section_of(input)};
        sections[section][input.name] = input.is_hidden()
                                            ? described_hidden(input, node.generation)
                                            : describe(input, node.generation, folders);
        order[section].push_back(input.name);
    }
    entry["input"] = std::move(sections);
    entry["input_order"] = std::move(order);
}

void add_outputs(Json& entry, const NodeDeclaration& node) {
    Json types = Json::array();
    Json are_lists = Json::array();
    Json names = Json::array();
    for (const auto& output : node.outputs) {
        types.push_back(output.type);
        are_lists.push_back(false);
        names.push_back(output.shown_name());
    }
    entry["output"] = std::move(types);
    entry["output_is_list"] = std::move(are_lists);
    entry["output_name"] = std::move(names);
}

/// A text for each output, null where there is none.
Json output_tooltips(const NodeDeclaration& node) {
    Json texts = Json::array();
    for (const auto& output : node.outputs)
        texts.push_back(output.tooltip.empty() ? Json() : Json(output.tooltip));
    return texts;
}

bool has_output_tooltips(const NodeDeclaration& node) {
    for (const auto& output : node.outputs)
        if (!output.tooltip.empty()) return true;
    return false;
}

Json display_name(const NodeDeclaration& node) {
    if (!node.display_name.empty()) return node.display_name;
    return node.generation == Generation::classic ? Json(node.class_type) : Json();
}

}  // namespace

Json describe(const InputDeclaration& input, Generation generation, const Folders& folders) {
    Json options = Json::object();
    std::visit(OptionWriter{options, generation, folders}, input.field);
    if (input.prominence == Prominence::advanced) options["advanced"] = true;
    if (!input.tooltip.empty()) options["tooltip"] = input.tooltip;
    Json described = Json::array();
    described.push_back(described_type(input, generation, folders));
    if (generation == Generation::schema || !options.empty()) described.push_back(options);
    return described;
}

Json describe(const NodeDeclaration& node, const Folders& folders) {
    const bool is_schema = node.generation == Generation::schema;
    const bool is_deprecated = node.standing == Standing::deprecated;
    Json entry = Json::object();
    add_inputs(entry, node, folders);
    add_outputs(entry, node);
    if (is_schema) {
        entry["output_tooltips"] = output_tooltips(node);
        entry["output_matchtypes"] = nullptr;
    }
    entry["name"] = node.class_type;
    entry["display_name"] = display_name(node);
    entry["description"] = node.description;
    entry["python_module"] = node.module;
    entry["category"] = node.category;
    entry["output_node"] = node.role == Role::output;
    if (!is_schema && has_output_tooltips(node)) entry["output_tooltips"] = output_tooltips(node);
    if (is_schema || is_deprecated) entry["deprecated"] = is_deprecated;
    if (is_schema) {
        entry["experimental"] = false;
        entry["api_node"] = false;
    }
    return entry;
}

}  // namespace ballast::graph
