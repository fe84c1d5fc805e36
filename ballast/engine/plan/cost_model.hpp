#pragma once
// How long one step of a model takes under a placement: arithmetic on the compute device beside
// transfers of the blocks that live elsewhere.
//
// Blocks are computed in model order. A transfer begins when its link is free and the ring has
// room, and a block waits for its bytes. Steps follow one another, so that the next step's first
// blocks travel during the last ones of this step. Nanoseconds, whole numbers.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ballast/engine/plan/plan_machine.hpp"

namespace ballast::plan {

/// A block as planning sees it.
struct PlanBlock {
    std::string name{};
    Bytes bytes{};
    std::string type{};                    ///< "Linear", "Conv2d"; empty: unknown
    bool is_fetchable = true;              ///< its layer can take its weights from another device
    bool is_loose = false;                 ///< the pseudo-block of parameters of no layer
    std::optional<std::uint64_t> flops{};  ///< per step
    std::optional<Bytes> activation_bytes{};  ///< held at once while it computes

    bool operator==(const PlanBlock&) const = default;
};

struct StepCost {
    std::uint64_t step_ns = 0;      ///< from one step's end to the next one's
    std::uint64_t compute_ns = 0;   ///< arithmetic alone
    std::uint64_t transfer_ns = 0;  ///< busy time of the busiest link
    Bytes moved{};                  ///< bytes that travel in each step

    /// What no order of work could beat.
    [[nodiscard]] std::uint64_t bound_ns() const { return std::max(compute_ns, transfer_ns); }
    bool operator==(const StepCost&) const = default;
};

/// Time of one step with `homes[i]` the home of block i, arithmetic on `compute`, and `ring` bytes
/// for blocks on their way. Blocks without known FLOPs, or a device of unknown speed, compute in no
/// time. Blocks on one pool with `compute` need no transfer. Throws `std::logic_error` if there is
/// no way from a home to `compute`.
StepCost step_cost(std::span<const PlanBlock> blocks, std::span<const DeviceId> homes,
                   DeviceId compute, const PlanMachine& machine, Bytes ring);

}  // namespace ballast::plan
