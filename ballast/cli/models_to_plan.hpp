#pragma once
// What `ballast plan` is asked to plan, unless it is a workflow: the models of a file of weights
// with what their steps cost, or a list of blocks.

#include <string>
#include <vector>

#include "ballast/engine/core/settings.hpp"
#include "ballast/graph/part_planner.hpp"

namespace ballast::cli {

/// One model, before a machine is known.
struct ModelToPlan {
    graph::PartToPlan part{};
    bool is_distributed = true;  ///< the allocation concerns it; others are placed automatically
    std::vector<std::string> warnings{};
};

/// The models of the file `operand`, or of --blocks where that is empty, for pictures of the size
/// that the settings say.
Result<std::vector<ModelToPlan>> models_to_plan(const std::string& operand,
                                                const Settings& settings);

}  // namespace ballast::cli
