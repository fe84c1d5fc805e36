#pragma once
// One phase of a workflow: a model that is about to be used, beside those that are loaded already.
//
// Pure functions: the command line plans with them what the runtime then does.

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ballast/engine/plan/plan.hpp"
#include "ballast/engine/plan/plan_machine.hpp"

namespace ballast::residency {

/// A model that is loaded, and what it holds.
struct Loaded {
    std::string name{};
    std::map<DeviceId, Bytes> held{};  ///< weights and ring
    bool is_idle = true;               ///< nobody computes with it now

    bool operator==(const Loaded&) const = default;
};

/// What a realised plan holds on each device: blocks at home and the ring. The disk holds nothing
/// of ours.
std::map<DeviceId, Bytes> held_by(const plan::Plan& plan);

struct Phase {
    std::vector<std::size_t> evicted{};  ///< indices of residents that go first, in that order
    plan::Plan plan{};
    plan::PlanMachine left{};  ///< what the plan was made for: capacities beside those that stay
};

/// Takes what is held off the capacities, on each device and on the pool that its memory is part
/// of.
void take(plan::PlanMachine& machine, const std::map<DeviceId, Bytes>& held);

/// What may still be held on a device: in its pool, if it is part of one.
Bytes room_on(const plan::PlanMachine& machine, DeviceId device);

/// A plan for a machine whose capacities are what is left.
using PlanMaker = std::function<plan::Plan(const plan::PlanMachine&)>;

/// Plans a model beside `residents`, least recently used first. `machine` has the capacities of the
/// moment when nothing of ours is loaded.
///
/// Nothing goes without pressure: if the model fits with all its blocks resident where it computes,
/// or as the user placed them, everybody stays. Otherwise idle models go that hold something where
/// room is missing, least recently used first, until it fits like that; of plans that are equally
/// good, the one that evicts fewest counts. That the processor could compute is no reason to stay
/// in the way of an accelerator. Where nothing fits, what is missing is told beside those who have
/// to stay. What goes is only dropped: its source is its file.
///
/// Calls `make` once for each set of models that it considers to evict, and once for all of them.
Phase plan_phase(const plan::PlanMachine& machine, const std::vector<Loaded>& residents,
                 const PlanMaker& make);

}  // namespace ballast::residency
