#pragma once
// The parts of a Stable Diffusion 1.x model by the names that they have elsewhere.

#include <array>
#include <string_view>

#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/plan/block_table.hpp"
#include "ballast/models/step_costs.hpp"

namespace ballast::models::sd {

struct Part {
    std::string_view output_type;  ///< of the loaders' outputs: "MODEL"
    std::string_view name;         ///< behind the file's name in reports: "unet"
    std::string_view section;      ///< of `ballast.config` and of what `inspect` prints
    /// The part's blocks in a file. Fails as `describe_unet` and its like.
    Result<plan::BlockTable> (*blocks)(const formats::TensorDirectory& directory);
    /// What a step of it costs: a call of the network, encoding a prompt, decoding a picture. The
    /// order is that of `blocks`. Fails as that does, and for shapes that `check` refuses.
    Result<StepCosts> (*costs)(const formats::TensorDirectory& directory, const StepShape& shape);
};

Result<plan::BlockTable> unet_blocks(const formats::TensorDirectory& directory);
Result<plan::BlockTable> clip_blocks(const formats::TensorDirectory& directory);
Result<plan::BlockTable> vae_blocks(const formats::TensorDirectory& directory);

Result<StepCosts> unet_costs(const formats::TensorDirectory& directory, const StepShape& shape);
Result<StepCosts> clip_costs(const formats::TensorDirectory& directory, const StepShape& shape);
Result<StepCosts> vae_costs(const formats::TensorDirectory& directory, const StepShape& shape);

inline constexpr Part kUNetPart{"MODEL", "unet", "unet", unet_blocks, unet_costs};
inline constexpr Part kTextPart{"CLIP", "text", "clip_l", clip_blocks, clip_costs};
inline constexpr Part kVaePart{"VAE", "vae", "vae", vae_blocks, vae_costs};
inline constexpr std::array kParts{kUNetPart, kTextPart, kVaePart};

/// The part that a loader's output of that type stands for; null for other types.
const Part* part_of(std::string_view output_type);

}  // namespace ballast::models::sd
