#include "ballast/graph/required_models.hpp"

#include <variant>

namespace ballast::graph {

namespace {

/// The folder type behind an input that names a model file; null for all other inputs.
const std::string* folder_of(const InputDeclaration& input) {
    const auto* choice = std::get_if<ChoiceField>(&input.field);
    const auto* files = choice != nullptr ? std::get_if<ModelFiles>(&choice->from) : nullptr;
    return files != nullptr ? &files->folder : nullptr;
}

}  // namespace

std::vector<RequiredModel> required_models(const Workflow& workflow,
                                           const NodeCatalogue& catalogue) {
    std::vector<RequiredModel> models;
    for (const auto& node : workflow.nodes()) {
        const std::string* class_type = node.class_type();
        const auto* declaration = class_type != nullptr ? catalogue.find(*class_type) : nullptr;
        const Json* inputs = node.inputs();
        if (declaration == nullptr || inputs == nullptr) continue;
        for (const auto& input : declaration->inputs) {
            const std::string* folder = folder_of(input);
            const Json* value = find_member(*inputs, input.name);
            if (folder == nullptr || value == nullptr) continue;
            if (const auto* name = unwrapped(*value).get_ptr<const std::string*>())
                models.push_back({.node = node.id,
                                  .class_type = *class_type,
                                  .input = input.name,
                                  .folder = *folder,
                                  .name = *name});
        }
    }
    return models;
}

}  // namespace ballast::graph
