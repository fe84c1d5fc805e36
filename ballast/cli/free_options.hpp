#pragma once
// What `ballast run` does with loaded models between its passes.

#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/core/settings.hpp"
#include "ballast/engine/residency/free_flow.hpp"
#include "ballast/graph/workflow_models.hpp"

namespace ballast::cli {

struct FreeOptions {
    residency::FreeFlags flags{};
    std::vector<std::string> ejected{};  ///< names of models
    bool unloads_all = false;
    std::vector<std::string> kept{};  ///< names of models that stay whatever is freed
};

FreeOptions free_options(const Settings& settings);

/// Fails with `usage` for a name that is none of the models of the workflow, nor of their files.
Result<void> require_named_models(const FreeOptions& options, const graph::WorkflowModels& models);

/// The uses of models that `passes` passes over the workflow make, in order.
std::vector<residency::ExpectedUse> expected_uses(const graph::WorkflowModels& models,
                                                  std::int64_t passes);

/// Flags the models that are to stay; those that are not loaded are nobody's concern.
void keep_models(const FreeOptions& options, residency::FreeFlow& flow);

/// Asks for what happens between two passes.
void request_between(const FreeOptions& options, residency::FreeFlow& flow);

}  // namespace ballast::cli
