#pragma once
// The CLIP text network: tokens to one vector per token and one for the whole text.
//
// Radford et al., "Learning Transferable Visual Models From Natural Language Supervision", 2021: a
// causal transformer with quick GELU (x * sigmoid(1.702 x)).

#include <optional>
#include <vector>

#include "ballast/models/sd/clip.hpp"
#include "ballast/runtime/nn/layers.hpp"

namespace ballast::runtime::text {

class ClipTextModel {
public:
    /// Throws `Failure` (`corrupt_file`) when a layer is missing.
    static ClipTextModel build(const models::sd::ClipConfig& config, const plan::BlockTable& table);

    /// Vectors [B, T, W] fp32 of tokens `ids` [B, T] (int64), without positions. A table that holds
    /// chosen tokens only has one row for all others.
    at::Tensor embed(const nn::Forward& forward, const at::Tensor& ids) const;

    struct Output {
        at::Tensor raw;     ///< [B, T, W]: the layer asked for
        at::Tensor normed;  ///< the same behind the final norm
        at::Tensor pooled;  ///< [B, W]: last layer, final norm, at each text's end
    };

    /// tokens [B, T, W] with T at most the network's positions; `end_positions` one per text. The
    /// layer counts from the end: -1 is the last. As in the reference, a number beyond the first
    /// layer means the last.
    /// Results are fp32 on the processor.
    Output run(const nn::Forward& forward, const at::Tensor& tokens,
               const std::vector<std::int64_t>& end_positions, int layer) const;

private:
    struct Layer {
        nn::LayerNorm norm1;
        nn::Linear q, k, v, out;
        nn::LayerNorm norm2;
        nn::Linear in_mlp, out_mlp;
        std::string path;
    };

    ClipTextModel(const models::sd::ClipConfig& config, const nn::Binder& binder);
    at::Tensor apply(const Layer& layer, const nn::Forward& forward, at::Tensor x) const;

    std::int64_t heads_;
    nn::Parameters token_table_;
    nn::Parameters position_table_;
    std::vector<Layer> layers_;
    nn::LayerNorm final_norm_;
    std::optional<plan::BlockId> token_ids_;
    std::size_t token_ids_index_ = 0;
};

}  // namespace ballast::runtime::text
