#pragma once
// What is wrong with a workflow, for people and for scripts.

#include <string>

#include "ballast/cli/console.hpp"
#include "ballast/graph/validation_report.hpp"

namespace ballast::cli {

/// Says all faults, one line each; with --json one error that also carries `node_errors`. Returns
/// the exit status.
int refuse_workflow(const graph::ValidationReport& report, const std::string& file,
                    Console& console);

}  // namespace ballast::cli
