#pragma once
// Changing single inputs of a workflow from the command line: --set NODE.INPUT=VALUE.

#include "ballast/graph/node_catalogue.hpp"
#include "ballast/graph/workflow.hpp"

namespace ballast::graph {

/// Applies "NODE.INPUT=VALUE". The input's declared type decides how VALUE is read: text and
/// choices take it as it stands (or as a JSON string, if it is one), everything else as JSON, or as
/// text if it is none. `["4", 0]` links the input.
/// Fails with `usage`: a text of another form, no such node, no such input (similar names follow).
Result<void> set_input(Workflow& workflow, std::string_view assignment,
                       const NodeCatalogue& catalogue);

}  // namespace ballast::graph
