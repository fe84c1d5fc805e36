#pragma once
// What kind of layer a block is, as far as its tensors tell.

#include <string_view>

#include "ballast/engine/plan/block_table.hpp"

namespace ballast::plan {

/// "Conv1d", "Conv2d", "Conv3d", "Linear", "Embedding", "GroupNorm", "LayerNorm", "RMSNorm", and
/// "Norm" for one whose name does not say which: they store the same tensors. "Parameters" for the
/// loose ones; empty if the block has no weight, or one of no such shape.
std::string_view layer_type(const Block& block);

}  // namespace ballast::plan
