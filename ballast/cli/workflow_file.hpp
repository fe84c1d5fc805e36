#pragma once
// A workflow from a file: API-format JSON, or a picture that carries one.

#include <filesystem>

#include "ballast/graph/workflow.hpp"

namespace ballast::cli {

/// Reads `path`, or standard input for "-", whole; at most 256 MiB. What else a picture carries
/// (the editor's own description) becomes the workflow's `extra_pnginfo`, so that new pictures
/// carry it, too. Fails with `not_found`, `io`, `foreign_file`, or as `png_texts` and
/// `workflow_from_text` do; `not_found` also for a picture that carries no workflow.
Result<graph::Workflow> read_workflow_file(const std::filesystem::path& path);

}  // namespace ballast::cli
