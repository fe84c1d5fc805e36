#include "ballast/graph/valid_workflow.hpp"

#include <algorithm>

namespace ballast::graph {

const Link* ValidNode::link(std::string_view input) const {
    const auto given = std::ranges::find(inputs, input, &ValidInput::name);
    return given != inputs.end() ? std::get_if<Link>(&given->value) : nullptr;
}

std::optional<Json> ValidNode::constant(std::string_view input) const {
    if (const auto given = std::ranges::find(inputs, input, &ValidInput::name);
        given != inputs.end()) {
        const auto* value = std::get_if<Json>(&given->value);
        return value != nullptr ? std::optional(*value) : std::nullopt;
    }
    const auto* declared = declaration->input(input);
    return declared != nullptr ? default_value(*declared) : std::nullopt;
}

Json ValidWorkflow::document() const {
    Workflow converted = source;
    for (const auto& node : nodes) {
        const auto index = source.index_of(node.id);
        for (const auto& input : node.inputs) {
            const auto* constant = std::get_if<Json>(&input.value);
            if (constant == nullptr || !index) continue;
            // An array would be taken for a link when the document is read again.
            const bool needs_wrapping = constant->is_array();
            converted.set_input(*index, input.name,
                                needs_wrapping ? Json{{"__value__", *constant}} : *constant);
        }
    }
    return converted.to_json();
}

}  // namespace ballast::graph
