#pragma once
// One phase of a workflow: a model that is about to be used, beside those that are loaded already.
//
// Pure functions: the command line plans with them what the runtime then does.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/plan/block_table.hpp"
#include "ballast/engine/plan/plan.hpp"
#include "ballast/engine/plan/plan_machine.hpp"

namespace ballast::residency {

/// How much a model is wanted where it is.
enum class Standing {
    flagged,   ///< the user said that it may go
    ordinary,  ///< nobody said anything
    retained,  ///< the user wants it kept: it goes only where nothing else helps
};

/// A model that is loaded, what it holds, and what speaks for letting it go.
struct Loaded {
    std::string name{};
    std::map<DeviceId, Bytes> held{};  ///< weights and ring
    /// By device, what can go alone, in that order: the ring, then the end of the model.
    std::map<DeviceId, std::vector<Bytes>> tail{};
    bool is_idle = true;  ///< nobody computes with it now
    Standing standing = Standing::ordinary;
    /// How many uses of models come before its next one; empty: nobody is known to want it.
    std::optional<std::size_t> next_use{};
    std::uint64_t prompt = 0;    ///< in which it was used last; a larger number is later
    std::uint64_t last_use = 0;  ///< likewise, within all uses

    bool operator==(const Loaded&) const = default;
};

/// What a realised plan holds on each device: blocks at home and the ring. The disk holds nothing
/// of ours.
std::map<DeviceId, Bytes> held_by(const plan::Plan& plan);

/// A model that was loaded by a plan, as `plan_phase` sees it while nobody uses it.
Loaded loaded_by(std::string name, const plan::BlockTable& table, const plan::Plan& plan);

/// A model that makes room.
struct Eviction {
    std::size_t index = 0;  ///< of the resident
    /// What of its tail goes on each device; empty: all of the model.
    std::map<DeviceId, Bytes> part{};

    [[nodiscard]] bool is_whole() const { return part.empty(); }
    bool operator==(const Eviction&) const = default;
};

struct Phase {
    std::vector<Eviction> evicted{};  ///< who makes room first, in that order
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

/// Plans a model beside `residents`. `machine` has the capacities of the moment when nothing of
/// ours is loaded.
///
/// Nothing goes without pressure: if the model fits with all its blocks resident where it computes,
/// or as the user placed them, everybody stays. Otherwise idle models make room that hold something
/// where room is missing, until it fits like that; of plans that are equally good, the one that
/// evicts fewest counts. The last of them gives up no more of its tail than is needed. That the
/// processor could compute is no reason to stay in the way of an accelerator. Where nothing fits,
/// what is missing is told beside those who have to stay. What goes is only dropped: its source is
/// its file.
///
/// In this order, the first difference counting: models that nobody retains; models that nobody is
/// known to want, else those wanted last; flagged ones; those used in the earliest prompt; those
/// that cost the least reading again for each byte that they free; those used least recently.
/// Retained models make room only for a model that fits in no other way, or that would be left to
/// the processor.
///
/// Calls `make` once for each set of models that it considers to evict, once for all of them, and
/// some times (the logarithm of its pieces) to cut the last one.
Phase plan_phase(const plan::PlanMachine& machine, const std::vector<Loaded>& residents,
                 const PlanMaker& make);

}  // namespace ballast::residency
