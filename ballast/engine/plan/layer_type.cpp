#include "ballast/engine/plan/layer_type.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/engine/plan/placement.hpp"

namespace ballast::plan {
namespace {

std::string_view last_part(std::string_view name) {
    return name.substr(name.rfind('.') + 1);  // npos + 1 is 0
}

const BlockTensor* tensor(const Block& block, std::string_view part) {
    const auto found = std::ranges::find(
        block.tensors, part, [](const BlockTensor& each) { return last_part(each.name); });
    return found == block.tensors.end() ? nullptr : &*found;
}

/// T5 has embeddings under other names than the rest.
bool is_embedding_name(std::string_view name) {
    return is_head_name(name) || name == "shared" || name == "relative_attention_bias";
}

std::string_view norm_type(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames{{
        {"group_norm", "GroupNorm"},
        {"groupnorm", "GroupNorm"},
        {"layer_norm", "LayerNorm"},
        {"layernorm", "LayerNorm"},
        {"ln_", "LayerNorm"},
        {"rms_norm", "RMSNorm"},
        {"rmsnorm", "RMSNorm"},
    }};
    const auto lower_name = lower(name);
    for (const auto& [part, type] : kNames)
        if (lower_name.find(part) != std::string::npos) return type;
    return "Norm";
}

}  // namespace

std::string_view layer_type(const Block& block) {
    if (block.name == kLooseBlock) return "Parameters";
    const auto* weight = tensor(block, "weight");
    if (weight == nullptr) return {};
    const auto name = last_part(block.name);
    switch (weight->shape.size()) {
        case 1: return norm_type(name);
        case 2: {
            const bool is_table = tensor(block, "bias") == nullptr && is_embedding_name(name);
            return is_table ? "Embedding" : "Linear";
        }
        case 3: return "Conv1d";
        case 4: return "Conv2d";
        case 5: return "Conv3d";
        default: return {};
    }
}

}  // namespace ballast::plan
