#pragma once
// Whether a run can write what it is about to make, asked before the work begins.

#include <filesystem>
#include <string>
#include <vector>

#include "ballast/engine/core/result.hpp"
#include "ballast/graph/runtime.hpp"
#include "ballast/graph/valid_workflow.hpp"

namespace ballast::cli {

/// A folder that receives pictures, and the option that names it.
struct PictureFolder {
    std::filesystem::path path;
    std::string option;  ///< "--output"
};

/// Those that the workflow's outputs write to.
std::vector<PictureFolder> picture_folders(const graph::ValidWorkflow& workflow,
                                           const graph::RuntimeOptions& options);

/// Fails with `io` unless files can be made in the folder, or the folder itself can be made. Makes
/// nothing.
Result<void> require_writable(const PictureFolder& folder);

/// Makes the folder where it does not exist. Fails with `io`.
Result<void> make_folder(const PictureFolder& folder);

/// Fails with `io` unless the file can be written, and with `usage` when it is one of `inputs`,
/// which would be lost. Makes nothing.
Result<void> require_report_file(const std::filesystem::path& file,
                                 const std::vector<std::filesystem::path>& inputs = {});

/// The same of the file that --chart names.
Result<void> require_chart_file(const std::filesystem::path& file,
                                const std::vector<std::filesystem::path>& inputs);

}  // namespace ballast::cli
