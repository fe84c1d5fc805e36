#pragma once
// How long one step of a model takes under a placement: arithmetic on the compute device beside
// transfers of the blocks that live elsewhere.
//
// Blocks are computed in model order. A transfer begins when its link is free and the ring has
// room, and a block waits for its bytes. Steps follow one another, so that the next step's first
// blocks travel during the last ones of this step. Nanoseconds, whole numbers.

#include <algorithm>
#include <array>
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

/// Where a block lives, as an index of a list of places.
using PlaceIndex = std::uint16_t;

/// `step_cost` for many placements of one model: whatever does not depend on the placement is
/// computed once. Keeps references on blocks and machine; for one thread.
class StepTimer {
public:
    /// `places` are all homes that a placement may give. Throws as `step_cost` does.
    StepTimer(std::span<const PlanBlock> blocks, std::span<const DeviceId> places, DeviceId compute,
              const PlanMachine& machine);

    /// `at[i]` is the place of block i.
    StepCost operator()(std::span<const PlaceIndex> at, Bytes ring);

    /// Whether blocks at that place must travel.
    [[nodiscard]] bool is_away(PlaceIndex place) const { return ways_[place].count > 0; }

private:
    /// One stretch of a way.
    struct Hop {
        std::size_t link = 0;  ///< index of `free_at_`
        std::uint64_t bytes_per_s = 1;
        std::uint64_t latency_ns = 0;
    };
    /// None for what is there already, two from the disk through the host.
    struct Way {
        std::size_t count = 0;
        std::array<Hop, 2> hops{};
    };
    /// Bytes in the ring, until when.
    struct Held {
        std::uint64_t bytes = 0;
        std::uint64_t until = 0;
    };

    std::span<const PlanBlock> blocks_;
    std::uint64_t longest_;            ///< time of one thing: two steps of such sum to 64 bits
    std::vector<Way> ways_;            ///< one per place
    std::vector<std::uint64_t> work_;  ///< nanoseconds of arithmetic, one per block
    std::vector<std::uint64_t> free_at_;
    std::vector<std::uint64_t> busy_;
    std::vector<std::array<std::uint64_t, 2>> taken_;  ///< by the hops of each block
    std::vector<Held> ring_;                           ///< oldest first
};

}  // namespace ballast::plan
