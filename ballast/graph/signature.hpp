#pragma once
// The keys of the result cache: what a node's result depends on.
//
// A key covers the class, the constants, the change value of every node upstream and how they are
// linked. Ids and titles do not matter, unless the node asks for its id.

#include <optional>
#include <vector>

#include "ballast/engine/core/sha256.hpp"
#include "ballast/graph/folders.hpp"
#include "ballast/graph/valid_workflow.hpp"

namespace ballast::graph {

/// What a class with a change detector says of one node. Null for classes without; nothing if the
/// detector failed, so that the node has to run.
using ChangeValue = std::optional<Json>;

/// One per node. A workflow that brings its own value (`is_changed`) is believed.
std::vector<ChangeValue> change_values(const ValidWorkflow& workflow, const Folders& folders);

/// One per node: size and time of the model files that it names, as they are now. Empty for nodes
/// that name none, or none that is there.
std::vector<std::string> file_versions(const ValidWorkflow& workflow, const Folders& folders);

/// Nodes in an order in which sources come before their consumers.
std::vector<std::size_t> sources_first(const ValidWorkflow& workflow);

/// One key per node; nothing where a result must never be used again. Equal keys: equal results.
/// `versions` as of `file_versions`: a loader whose file was replaced runs again.
std::vector<std::optional<Digest>> signatures(const ValidWorkflow& workflow,
                                              const std::vector<ChangeValue>& changes,
                                              const std::vector<std::string>& versions);

}  // namespace ballast::graph
