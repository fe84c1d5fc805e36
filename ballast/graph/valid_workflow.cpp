#include "ballast/graph/valid_workflow.hpp"

namespace ballast::graph {

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
