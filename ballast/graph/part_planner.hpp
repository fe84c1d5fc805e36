#pragma once
// Plans for one part of a model (network, text encoder, autoencoder) on a machine, made alike for
// the command line and for the runtime.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/machine/format_choice.hpp"
#include "ballast/engine/plan/planner.hpp"
#include "ballast/engine/residency/phase.hpp"
#include "ballast/graph/planning_machine.hpp"
#include "ballast/models/sd/parts.hpp"
#include "ballast/models/step_costs.hpp"

namespace ballast::graph {

/// Parts choose the format that they compute in, and the device, by different rules.
enum class PartKind { network, text_encoder, autoencoder };

PartKind kind_of(const models::sd::Part& part);

/// A part before a machine is known.
struct PartToPlan {
    std::string name{};
    std::vector<plan::PlanBlock> blocks{};
    PartKind kind = PartKind::network;
    bool is_file_backed = true;
    /// By the bytes of an activation, 2 and 4. Empty where the family's rules are unknown.
    std::map<std::int64_t, models::StepCosts> costs{};
    machine::WeightsFile weights{};  ///< for the choice of a format
    Bytes scratch{};                 ///< of each thread of a processor, for attention
    Bytes widened{};                 ///< the largest block in fp32, where it is stored otherwise
};

/// A part of a file, for steps of `shape`. Fails as the part's blocks and costs do.
Result<PartToPlan> part_to_plan(const formats::TensorDirectory& directory,
                                const models::sd::Part& part, models::StepShape shape);

/// What the user wants of a part; all may be left open.
struct PlacementWish {
    std::optional<DeviceId> compute{};
    std::string allocation{};            ///< full form; empty: automatic
    std::optional<Bytes> activations{};  ///< instead of what the rules say
    std::optional<plan::ModelRole> role{};
};

/// A plan with what it was made of.
struct Planned {
    plan::PlanRequest request{};
    plan::Plan plan{};
};

/// How much more than the rules say is planned for activations: usually a tenth, and a little more
/// on a processor, since before a run nobody knows what else nodes hold meanwhile and how well its
/// allocator can reuse memory.
enum class Margin { usual, none };

class PartPlanner {
public:
    /// Reads the wish against the machine. Fails with `usage` for an allocation text that means
    /// nothing, and with `not_available` for one that names a device that cannot store blocks.
    /// Without a wish a text encoder or autoencoder computes where `machine` puts it, if that is
    /// the processor.
    static Result<PartPlanner> make(const PlanningMachine& machine, PartToPlan part,
                                    const PlacementWish& wish);

    /// Plans for the capacities of `devices`, which are those of the machine or less.
    [[nodiscard]] Planned plan(const plan::PlanMachine& devices,
                               Margin margin = Margin::usual) const;

    [[nodiscard]] const PartToPlan& part() const { return part_; }
    [[nodiscard]] const plan::Policy& policy() const { return policy_; }

private:
    PartPlanner(const PlanningMachine& machine, PartToPlan part)
        : machine_(&machine), part_(std::move(part)) {}
    [[nodiscard]] std::int64_t element_bytes(DeviceId device) const;
    void set_costs(plan::PlanRequest& request, DeviceId device, Margin margin) const;

    const PlanningMachine* machine_;
    PartToPlan part_;
    plan::Policy policy_{};
    std::optional<DeviceId> compute_{};
    std::optional<Bytes> activations_{};
    plan::ModelRole role_ = plan::ModelRole::network;
};

/// A part planned beside models that are loaded.
struct PlannedBeside {
    std::vector<residency::Eviction> evicted{};  ///< who makes room, in that order
    Planned planned{};
};

/// `residency::plan_phase`, with what the plan was made of.
PlannedBeside plan_beside(const plan::PlanMachine& devices,
                          const std::vector<residency::Loaded>& loaded, const PartPlanner& planner,
                          Margin margin = Margin::usual);

}  // namespace ballast::graph
