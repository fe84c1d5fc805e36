#pragma once
// Opening the shared library that computes. Only commands that compute come here, so that all
// others start without libtorch.

#include <filesystem>
#include <memory>

#include "ballast/graph/runtime.hpp"

namespace ballast::cli {

/// The library's file: `chosen` if it is not empty, else libballast_runtime.so beside the program
/// or in ../lib. Fails with `not_found`, naming where it was looked for.
Result<std::filesystem::path> find_runtime_library(const std::filesystem::path& chosen);

/// Opens the library and starts its runtime. Sets OMP_WAIT_POLICY=passive if the user set nothing:
/// OpenMP reads it when it is loaded, and its default of spinning costs more than it gains beside
/// other work. Call once, before other threads exist; the library stays open until the process
/// ends, as libtorch cannot be unloaded. Fails with `not_found` (file or libtorch missing),
/// `unsupported` (another interface) or with what the runtime says.
Result<std::unique_ptr<graph::Runtime>> open_runtime(const std::filesystem::path& library,
                                                     const graph::RuntimeOptions& options);

}  // namespace ballast::cli
