#pragma once
// Where a loader's inputs put its models.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "ballast/engine/core/device_id.hpp"
#include "ballast/engine/core/result.hpp"
#include "ballast/engine/residency/retention.hpp"
#include "ballast/graph/node_runner.hpp"

namespace ballast::graph {

/// One model of a loader.
struct PartDistribution {
    std::optional<DeviceId> compute{};  ///< empty: the first accelerator, else cpu
    /// The full text "expert#compute;GiB;donor"; empty: nothing is distributed by request.
    std::string allocation{};

    bool operator==(const PartDistribution&) const = default;
};

/// What a user said with a loader of `distribution_nodes.hpp`. A value that goes with the call:
/// nothing outlives it.
struct DistributionInputs {
    std::string base_class{};  ///< the ordinary loader that reads the file: "UNETLoader"
    PartDistribution network{};
    PartDistribution text_encoder{};
    PartDistribution autoencoder{};
    /// Empty where the class has no such input: then it is as with ordinary loaders.
    std::optional<bool> keep_loaded{};
    bool is_keep_loaded_said = false;  ///< in the workflow, not by default
    /// Whether to evict all models loaded before, if an old workflow says so. It tells nothing of
    /// the model that this loader reads.
    std::optional<bool> eject_models{};
    /// Patched layers of 8-bit models stay as the merge made them; false rounds them to 8 bits.
    bool high_precision_loras = true;

    bool operator==(const DistributionInputs&) const = default;
};

/// The flag of a model that such a loader reads: the user's by name, else what the loader says,
/// else the default.
residency::RetentionFlag retention_of(const DistributionInputs& inputs,
                                      const residency::RetentionWishes& wishes,
                                      std::string_view model, const std::filesystem::path& file);

/// Reads the inputs of any loader; of an ordinary one only the class is told, and whether a
/// CLIPLoader's text encoder computes on the processor. The allocation of a
/// loader of several models concerns the network alone: an amount is meant once, not once per
/// model. Fails with `Code::usage` for a name that is none of a device that computes.
Result<DistributionInputs> distribution_inputs(const NodeCall& call);

/// GiB as an allocation text has them: "4.0", "2.5", "0.3" for 0.30000000000000004. Exact to a
/// byte.
std::string gib_text(double gib);

}  // namespace ballast::graph
