#pragma once
// Inputs that the sampling nodes have in common.

#include <string>
#include <vector>

#include "ballast/graph/node_declaration.hpp"

namespace ballast::graph::nodes {

/// All names that the original knows, in its order. A name that is not ported yet is valid here and
/// is refused by the runtime, which lists the ported ones.
std::vector<std::string> sampler_names();
std::vector<std::string> scheduler_names();

InputDeclaration seed(std::string name, std::string tooltip = {});
InputDeclaration steps(std::string tooltip = {});
InputDeclaration step_number(std::string name, std::int64_t default_value);
InputDeclaration cfg(std::string tooltip = {});
InputDeclaration denoise(std::string tooltip = {});

}  // namespace ballast::graph::nodes
