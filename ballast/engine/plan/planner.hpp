#pragma once
// From what a user asked for, a model and a machine to a plan. A pure function: nothing is read,
// allocated or measured.

#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/plan/cost_model.hpp"
#include "ballast/engine/plan/plan.hpp"

namespace ballast::plan {

struct PlanRequest {
    std::vector<PlanBlock> blocks{};  ///< in model order, with the pseudo-block of loose parameters
    ModelRole role = ModelRole::network;
    Policy policy{};
    /// Mode automatic: the device that computes. Empty: the best one.
    std::optional<DeviceId> compute{};
    PlanMachine machine{};
    bool is_file_backed = true;  ///< blocks may stay in their file
    Bytes activations{};         ///< estimate for one step, on the compute device
};

/// Places every block, adds up what each device would hold, and says whether that fits, why each
/// device got what it got, and how long a step should take. A plan that does not fit is a plan,
/// too, with `fits` false and the shortfall of each device.
Plan make_plan(const PlanRequest& request);

/// What placement needs of the blocks.
std::vector<PlacementBlock> placement_blocks(const std::vector<PlanBlock>& blocks);

/// The blocks of a table as planning sees them.
std::vector<PlanBlock> plan_blocks(const BlockTable& table);

}  // namespace ballast::plan
