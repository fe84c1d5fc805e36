#pragma once
// The models of a workflow, planned from the headers of their files.

#include <string>
#include <vector>

#include "ballast/engine/plan/plan.hpp"
#include "ballast/graph/runtime.hpp"
#include "ballast/graph/valid_workflow.hpp"

namespace ballast::cli {

/// One model of a workflow and where its blocks would live.
struct PlannedModel {
    std::string name;  ///< "sd15.safetensors (unet)"
    std::string node;
    plan::BlockTable table;
    plan::Plan plan;
};

/// What the workflow's outputs load, in document order, each as if all were held at once. Fails as
/// the run would at the loader: a file that cannot be read, that is of another kind, or lacks a
/// part.
Result<std::vector<PlannedModel>> plan_models(const graph::ValidWorkflow& workflow,
                                              const graph::RuntimeOptions& options);

}  // namespace ballast::cli
