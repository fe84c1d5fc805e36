#pragma once
// Loaders with a choice of devices, made from the ordinary loaders' declarations.

#include <vector>

#include "ballast/graph/devices.hpp"
#include "ballast/graph/node_declaration.hpp"

namespace ballast::graph::nodes {

/// The classes of `distribution_nodes.hpp` whose ordinary loader is among `bases`. Their device
/// inputs offer `devices`; all other inputs and the outputs are those of the ordinary loader.
std::vector<NodeDeclaration> multigpu(const std::vector<NodeDeclaration>& bases,
                                      const Devices& devices);

}  // namespace ballast::graph::nodes
