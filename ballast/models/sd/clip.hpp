#pragma once
// The CLIP text encoder of Stable Diffusion 1.x (openai/clip-vit-large-patch14, Hugging Face
// names) as a list of parameters.

#include <vector>

#include "ballast/engine/formats/tensor_directory.hpp"
#include "ballast/engine/plan/block_table.hpp"
#include "ballast/models/component.hpp"
#include "ballast/models/sd/config.hpp"

namespace ballast::models::sd {

/// Name of the optional list of CLIP ids, I32 [rows], sorted: row i of the token table belongs to
/// id token_ids[i]; the row marked -1 stands for every id that is not listed.
inline constexpr std::string_view kTokenIds = "embeddings.token_ids";

/// Every parameter in model order, `kTokenIds` last if there is one.
std::vector<Parameter> parameters(const ClipConfig& config);

struct ClipDescription {
    ClipConfig config;
    plan::BlockTable table;
};

/// Configuration and blocks of the text encoder in a checkpoint (below `cond_stage_model.`) or in a
/// file of its own (`text_model.` with the usual prefixes before it, or without it). Fails with
/// `not_found` if the file holds none, `unsupported` for other families and kinds, `corrupt_file`
/// for tensors that are missing or do not fit together.
Result<ClipDescription> describe_clip(const formats::TensorDirectory& directory);

}  // namespace ballast::models::sd
