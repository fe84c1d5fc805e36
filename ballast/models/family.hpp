#pragma once
// Which family of models a weight file belongs to, by telltale tensor names.

#include <string_view>

#include "ballast/engine/formats/tensor_directory.hpp"

namespace ballast::models {

/// What a file holds. A checkpoint counts as the family of its diffusion network; the component
/// kinds (clip, t5, vae) mean a file with that component alone.
enum class Family { sd15, sdxl, flux, wan, clip, t5, vae, lora, unknown };

/// "sd15", "sdxl" and so on; the name in reports.
std::string_view to_string(Family family);

struct Recognition {
    Family family = Family::unknown;
    /// For sentences: "a Stable Diffusion 1.x model", "an SDXL model", "an adapter (LoRA)". More
    /// exact than the family where we know a relative that is not listed (SD 2.x is `unknown`).
    std::string_view text;
};

/// Looks at names and a few shapes, one pass over the directory; reads nothing from the file.
Recognition recognise(const formats::TensorDirectory& directory);

/// Refuses a file that cannot provide any part of Stable Diffusion 1.x ("this is an SDXL model"),
/// with `Code::unsupported`. SD 1.x models, CLIP text encoders and autoencoders pass.
Result<void> require_sd1(const formats::TensorDirectory& directory);

}  // namespace ballast::models
