#pragma once
// Finding out before minutes of work that their result could not be saved.

#include <filesystem>

#include "ballast/engine/core/result.hpp"

namespace ballast::cli {

/// Makes the folder if need be. Fails with `io` when files cannot be made in it.
Result<void> require_output_folder(const std::filesystem::path& folder);

/// Fails with `io` when the file can neither be replaced nor, being a device or pipe, written to;
/// makes nothing.
Result<void> require_report_file(const std::filesystem::path& file);

}  // namespace ballast::cli
