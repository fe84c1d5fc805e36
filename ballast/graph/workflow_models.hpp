#pragma once
// The models that a workflow computes with, found out from its nodes and from the headers of files.

#include <compare>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/plan/block_table.hpp"
#include "ballast/graph/distribution_inputs.hpp"
#include "ballast/graph/folders.hpp"
#include "ballast/graph/smaller_steps.hpp"
#include "ballast/graph/valid_workflow.hpp"
#include "ballast/models/sd/parts.hpp"
#include "ballast/models/step_costs.hpp"

namespace ballast::graph {

/// Weights with the same identity are the same thing once loaded, whichever nodes load them.
struct ModelIdentity {
    std::filesystem::path path{};
    std::string part{};
    std::optional<DeviceId> compute{};  ///< as asked for
    std::string allocation{};           ///< likewise

    auto operator<=>(const ModelIdentity&) const = default;
};

/// How the registry tells such weights from others of their file.
std::string loading_options(const ModelIdentity& identity);

/// One step that is taken with a model, and what is tried in turn where it does not fit.
struct StepDemand {
    models::StepShape shape{};
    std::vector<SmallerStep> smaller{};

    bool operator==(const StepDemand&) const = default;
};

struct WorkflowModel {
    ModelIdentity identity{};
    const models::sd::Part* part = nullptr;
    /// Of the file; owned by `WorkflowModels`.
    const formats::TensorDirectory* directory = nullptr;
    std::string name{};    ///< "sd15.safetensors (unet)"
    std::string loader{};  ///< id of the node; the first one, where several load it
    plan::BlockTable table{};
    std::vector<StepDemand> demands{};  ///< each once
    bool is_shape_assumed = false;      ///< of some step
    DistributionInputs wishes{};        ///< of its loader
};

/// A node computes with a model.
struct WorkflowStep {
    std::string node{};
    std::size_t model = 0;  ///< index into `WorkflowModels::models`
};

/// Move-only.
struct WorkflowModels {
    WorkflowModels() = default;
    WorkflowModels(const WorkflowModels&) = delete;
    WorkflowModels& operator=(const WorkflowModels&) = delete;
    WorkflowModels(WorkflowModels&&) = default;
    WorkflowModels& operator=(WorkflowModels&&) = default;
    ~WorkflowModels() = default;

    std::map<std::filesystem::path, formats::TensorDirectory> directories{};
    std::vector<WorkflowModel> models{};  ///< in the order in which they are first used
    std::vector<WorkflowStep> steps{};    ///< in the order of execution
};

/// Opens the files that the workflow's outputs use. A network whose loader does not say where it
/// goes follows `allocation`. Fails as the run would at the loader, whose id the place has: a file
/// that cannot be read, that is of another kind, or lacks a part.
Result<WorkflowModels> workflow_models(const ValidWorkflow& workflow, const Folders& folders,
                                       const std::string& allocation);

}  // namespace ballast::graph
