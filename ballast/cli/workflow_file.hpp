#pragma once
// A workflow from a file: API-format JSON, or a picture that carries one.

#include <filesystem>

#include "ballast/engine/core/settings.hpp"
#include "ballast/graph/node_catalogue.hpp"
#include "ballast/graph/planning_machine.hpp"
#include "ballast/graph/workflow.hpp"

namespace ballast::cli {

/// Reads `path`, or standard input for "-", whole; at most 256 MiB. What else a picture carries
/// (the editor's own description) becomes the workflow's `extra_pnginfo`, so that new pictures
/// carry it, too. Fails with `not_found`, `io`, `foreign_file`, or as `png_texts` and
/// `workflow_from_text` do; `not_found` also for a picture that carries no workflow.
Result<graph::Workflow> read_workflow_file(const std::filesystem::path& path);

/// The same with the inputs replaced that --set names. Fails also as `graph::set_input`.
Result<graph::Workflow> read_workflow(const std::filesystem::path& path, const Settings& settings,
                                      const graph::NodeCatalogue& catalogue);

/// Whether `path` is to be read as a workflow rather than as weights: it is a text that opens an
/// object, a picture, or standard input. False for what cannot be read.
bool is_workflow_file(const std::filesystem::path& path);

/// Everything that a workflow may name on `machine`.
graph::NodeCatalogue catalogue_for(const graph::PlanningMachine& machine);

}  // namespace ballast::cli
