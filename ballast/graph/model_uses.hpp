#pragma once
// Which nodes of a workflow compute with which models, and on what, before anything runs.

#include <cstddef>
#include <vector>

#include "ballast/graph/smaller_steps.hpp"
#include "ballast/graph/valid_workflow.hpp"
#include "ballast/models/sd/parts.hpp"
#include "ballast/models/step_costs.hpp"

namespace ballast::graph {

/// One node computes with one part of what a loader reads.
struct ModelUse {
    std::size_t node = 0;    ///< index into `ValidWorkflow::nodes`
    std::size_t loader = 0;  ///< likewise
    const models::sd::Part* part = nullptr;
    models::StepShape shape{};  ///< of a step; the size of its numbers is not known here
    bool is_shape_assumed = false;
    std::vector<SmallerStep> smaller{};  ///< what is tried in turn where that does not fit
};

/// All uses that the workflow's outputs need, in the order in which nodes are executed. A network
/// is used by what makes latents with it (a sampler, also through a guider), a text encoder by what
/// makes conditionings, an autoencoder by what makes pictures or latents; nodes that hand a model
/// on only do not count, but are looked through.
std::vector<ModelUse> model_uses(const ValidWorkflow& workflow);

}  // namespace ballast::graph
