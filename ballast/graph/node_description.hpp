#pragma once
// A declaration in the words of the original's server, as browser front ends read it.

#include "ballast/graph/node_declaration.hpp"

namespace ballast::graph {

/// `[type, options]`, or `[type]` alone in classic nodes that have no options. Choices are listed
/// as they are now.
Json describe(const InputDeclaration& input, Generation generation, const Folders& folders);

/// The entry of a class under /object_info.
Json describe(const NodeDeclaration& node, const Folders& folders);

}  // namespace ballast::graph
