#pragma once
// The matrix as a document for people.

#include <string>
#include <vector>

#include "tests/verification/cell.hpp"

namespace ballast::verification {

struct MachineReport {
    const MachineRow* row = nullptr;
    ScaledMachine machine{};
    std::vector<Cell> cells{};  ///< by placement, flags and way of freeing
};

/// Markdown; what the cells were expected to show must have been checked before.
std::string document_of(const std::vector<MachineReport>& reports);

}  // namespace ballast::verification
