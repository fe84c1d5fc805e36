#pragma once
// Inputs that the sampling nodes have in common.

#include <string>
#include <vector>

#include "ballast/graph/node_declaration.hpp"

namespace ballast::graph::nodes {

/// A choice of all names that the original knows, in its order; those that are not ported yet are
/// refused with the ported ones as hint.
InputDeclaration sampler_name(std::string tooltip = {});
std::vector<std::string> scheduler_names();

InputDeclaration seed(std::string name, std::string tooltip = {});
InputDeclaration steps(std::string tooltip = {});
InputDeclaration step_number(std::string name, std::int64_t default_value);
InputDeclaration cfg(std::string tooltip = {});
InputDeclaration denoise(std::string tooltip = {});

}  // namespace ballast::graph::nodes
