#pragma once
// The plan for who says nothing: everything on the compute device if it fits, else the placement
// whose step is shortest in the cost model.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ballast/engine/plan/cost_model.hpp"

namespace ballast::plan {

struct AutomaticRequest {
    std::span<const PlanBlock> blocks;  ///< in model order
    std::span<const bool> pinned;       ///< one per block: stays on the compute device
    const PlanMachine& machine;
    bool is_file_backed = true;  ///< blocks may stay in their file and be read at each use
    Bytes activations{};         ///< on the compute device, beside weights and ring
};

/// A placement for one compute device.
struct AutomaticPlan {
    DeviceId compute{};
    std::vector<DeviceId> homes{};
    Bytes ring{};
    StepCost cost{};
    /// Devices that would hold more than they can; empty: it fits.
    std::map<DeviceId, Shortfall> shortfall{};
    std::string method{};  ///< how it was found, for explanations

    [[nodiscard]] bool fits() const { return shortfall.empty(); }
};

/// The best plan that computes on `compute`. Candidates: all resident; so much streamed as must be,
/// spread evenly between resident blocks, from the fastest places first or over all links at once;
/// devices filled in their order; equal shares; the largest blocks resident, as ComfyUI does. The
/// best of them is improved block by block. Small models are searched through.
AutomaticPlan plan_on(const AutomaticRequest& request, DeviceId compute);

/// The best plan over all devices that compute: the shortest step among those that fit, by the
/// device with more capacity if two are equal. Accelerators go before the processor.
AutomaticPlan plan_automatically(const AutomaticRequest& request);

/// Bytes each device holds under `homes`.
std::map<DeviceId, Bytes> bytes_by_home(std::span<const PlanBlock> blocks,
                                        std::span<const DeviceId> homes);

/// What would not fit: on `compute` ring and activations count, too, and what lies in one pool
/// counts together. The disk holds anything, if there is a file.
std::map<DeviceId, Shortfall> shortfall_of(const AutomaticRequest& request, DeviceId compute,
                                           std::span<const DeviceId> homes, Bytes ring);

/// Bytes of the ring for blocks that travel: room for two of the largest, so that one can arrive
/// while the other is in use.
Bytes ring_for(std::span<const PlanBlock> blocks, std::span<const DeviceId> homes, DeviceId compute,
               const PlanMachine& machine);

}  // namespace ballast::plan
