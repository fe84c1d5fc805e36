#pragma once
// Which model files a workflow names: what a dry run looks at without executing anything.

#include <string>
#include <vector>

#include "ballast/graph/node_catalogue.hpp"
#include "ballast/graph/workflow.hpp"

namespace ballast::graph {

struct RequiredModel {
    std::string node;
    std::string class_type;
    std::string input;
    std::string folder;  ///< folder type: "checkpoints"
    std::string name;    ///< as written: "sd15.safetensors"

    bool operator==(const RequiredModel&) const = default;
};

/// In document order; nodes of unknown classes and inputs that are not text are passed over.
std::vector<RequiredModel> required_models(const Workflow& workflow,
                                           const NodeCatalogue& catalogue);

}  // namespace ballast::graph
