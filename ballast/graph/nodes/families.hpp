#pragma once
// The families of nodes, one file each. A new node is an entry in its family's table.

#include <vector>

#include "ballast/graph/node_declaration.hpp"

namespace ballast::graph::nodes {

std::vector<NodeDeclaration> loaders();
std::vector<NodeDeclaration> conditioning();
std::vector<NodeDeclaration> latents();
std::vector<NodeDeclaration> images();
std::vector<NodeDeclaration> sampling();
std::vector<NodeDeclaration> custom_sampling();
std::vector<NodeDeclaration> model_sampling();

}  // namespace ballast::graph::nodes
