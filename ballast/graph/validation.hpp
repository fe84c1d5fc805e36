#pragma once
// Checking a workflow against the node catalogue, before anything is loaded.

#include <optional>
#include <string>
#include <vector>

#include "ballast/graph/folders.hpp"
#include "ballast/graph/valid_workflow.hpp"
#include "ballast/graph/validation_report.hpp"

namespace ballast::graph {

struct Validation {
    ValidationReport report;
    /// What can run; has no outputs when `report.refusal` is set.
    ValidWorkflow workflow;
};

/// Output nodes to consider: all of the workflow, or those among the given ids.
using Targets = std::optional<std::vector<std::string>>;

/// Checks whatever output nodes need. Never fails as such; a chain of 100,000 nodes or a cycle is
/// as good as any other input. Constants of the result have the declared types.
Validation validate(const Workflow& workflow, const NodeCatalogue& catalogue,
                    const Folders& folders, const Targets& targets = {});

}  // namespace ballast::graph
