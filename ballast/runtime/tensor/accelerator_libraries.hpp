#pragma once
// The parts of libtorch that drive accelerators.
//
// Ballast links the part for the processor only, so that one build runs with every libtorch. The
// others register their devices when they are opened.

#include <filesystem>
#include <string>
#include <vector>

#include "ballast/engine/core/error.hpp"

namespace ballast::runtime {

struct AcceleratorLibraries {
    std::vector<std::string> opened{};  ///< file names
    /// One `not_available` for each that is there but cannot be opened.
    std::vector<Error> failures{};
};

/// Opens those that lie beside the libtorch in use; before the first tensor, since torch remembers
/// which accelerators it found. They stay open; a second call costs nothing.
AcceleratorLibraries load_accelerator_libraries();

/// The same for another folder.
AcceleratorLibraries load_accelerator_libraries(const std::filesystem::path& folder);

}  // namespace ballast::runtime
