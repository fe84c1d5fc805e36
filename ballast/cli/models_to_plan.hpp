#pragma once
// What `ballast plan` is asked to plan: the models of a file of weights with what their steps cost,
// or a list of blocks.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ballast/cli/command.hpp"
#include "ballast/cli/machine.hpp"
#include "ballast/engine/machine/format_choice.hpp"
#include "ballast/engine/plan/planner.hpp"
#include "ballast/models/step_costs.hpp"

namespace ballast::cli {

/// One model, before a machine is known.
struct ModelToPlan {
    /// Parts of a model choose the format that they compute in by different rules.
    enum class Kind { network, text_encoder, autoencoder };

    std::string name{};
    std::vector<plan::PlanBlock> blocks{};
    Kind kind = Kind::network;
    bool is_file_backed = true;
    bool is_distributed = true;  ///< the allocation concerns it; others are placed automatically
    /// By the bytes of an activation, 2 and 4. Empty where the family's rules are unknown.
    std::map<std::int64_t, models::StepCosts> costs{};
    machine::WeightsFile weights{};  ///< for the choice of a format
    std::vector<std::string> warnings{};
};

/// The models of the operand or of --blocks, for pictures of the size that the settings say.
Result<std::vector<ModelToPlan>> models_to_plan(const Invocation& invocation,
                                                const Settings& settings);

/// Bytes of an activation of `model` when it computes on `device`, as ComfyUI chooses formats: text
/// encoders compute in fp32, the others in 16 bits where the device does.
std::int64_t activation_element(const ModelToPlan& model, DeviceId device, const Machine& machine);

/// The error of `ballast plan` for wrong use.
Error plan_usage(std::string key, std::string why, std::string hint);

}  // namespace ballast::cli
