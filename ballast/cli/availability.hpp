#pragma once
// What a valid workflow asks for that the runtime does not compute yet. Workflows of the original
// may name more than we have; that is told before anything is loaded.

#include "ballast/engine/core/result.hpp"
#include "ballast/graph/valid_workflow.hpp"

namespace ballast::cli {

/// Fails with `not_available` for a sampler that is not ported, if an output needs its node; the
/// hint lists those that are.
Result<void> require_available(const graph::ValidWorkflow& workflow);

}  // namespace ballast::cli
