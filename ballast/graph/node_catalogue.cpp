#include "ballast/graph/node_catalogue.hpp"

#include <iterator>

#include "ballast/graph/nodes/families.hpp"
#include "ballast/graph/nodes/multigpu.hpp"

namespace ballast::graph {

NodeCatalogue::NodeCatalogue(std::vector<NodeDeclaration> declarations)
    : declarations_(std::make_shared<const std::vector<NodeDeclaration>>(std::move(declarations))) {
    for (std::size_t i = 0; i < declarations_->size(); ++i)
        index_.insert_or_assign((*declarations_)[i].class_type, i);
}

const NodeDeclaration* NodeCatalogue::find(std::string_view class_type) const {
    const auto found = index_.find(class_type);
    return found == index_.end() ? nullptr : &(*declarations_)[found->second];
}

NodeCatalogue standard_catalogue(const Devices& devices) {
    std::vector<NodeDeclaration> all;
    for (auto* family : {&nodes::loaders, &nodes::conditioning, &nodes::latents, &nodes::images,
                         &nodes::sampling, &nodes::custom_sampling, &nodes::model_sampling}) {
        auto declarations = family();
        std::move(declarations.begin(), declarations.end(), std::back_inserter(all));
    }
    auto distributed = nodes::multigpu(all, devices);
    std::move(distributed.begin(), distributed.end(), std::back_inserter(all));
    return NodeCatalogue{std::move(all)};
}

}  // namespace ballast::graph
