#pragma once
// What `ballast run` does with loaded models between its passes.

#include <cstdint>
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

/// Whether something is to be freed between passes, but there is only one.
bool asks_for_nothing(const FreeOptions& options, std::int64_t passes);

/// Fails with `usage` for a name that is none of the models of the workflow, nor of their files.
Result<void> require_named_models(const FreeOptions& options, const graph::WorkflowModels& models);

/// The uses of models that one pass over the workflow makes, in order.
std::vector<residency::ExpectedUse> uses_of(const graph::WorkflowModels& models);
/// The same for as many passes as are left.
std::vector<residency::ExpectedUse> expected_uses(const std::vector<residency::ExpectedUse>& once,
                                                  std::int64_t passes);

/// Asks for what happens between two passes.
void request_between(const FreeOptions& options, residency::FreeFlow& flow);

}  // namespace ballast::cli
