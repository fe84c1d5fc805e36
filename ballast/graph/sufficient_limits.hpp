#pragma once
// The lowest memory limits under which a workflow fits that does not fit under those of the user.

#include <functional>
#include <map>
#include <vector>

#include "ballast/graph/workflow_plan.hpp"

namespace ballast::graph {

/// What each device lacks, in the phase in which it lacks most; empty: everything fits.
Shortfalls shortfall_of(const std::vector<WorkflowPhase>& phases);

/// Plans a workflow for a machine.
using WorkflowPlanner =
    std::function<Result<std::vector<WorkflowPhase>>(const PlanningMachine& machine)>;

/// `phases` are what `plan` makes of `machine`, and do not fit. The limits to raise, and what they
/// would have to be at least; of the host, with some room for what it holds for accelerators. Empty
/// where that does not help: some device where room is missing has no limit, or no more memory than
/// the limit lets us have.
std::map<DeviceId, Bytes> sufficient_limits(const PlanningMachine& machine,
                                            std::vector<WorkflowPhase> phases,
                                            const WorkflowPlanner& plan);

}  // namespace ballast::graph
