#pragma once
// What a file's names and shapes say about its networks, as JSON.

#include <string>
#include <vector>

#include "ballast/cli/console.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/models/family.hpp"

namespace ballast::cli {

/// {"unet": {...}, "clip_l": {...}, "vae": {...}}: those parts that the file has, with the members
/// of `ballast.config`; empty for families that are only recognised. A part that is there but does
/// not hold together is left out, and `warnings` says why.
Json model_config(const formats::TensorDirectory& directory, models::Family family,
                  std::vector<std::string>& warnings);

}  // namespace ballast::cli
