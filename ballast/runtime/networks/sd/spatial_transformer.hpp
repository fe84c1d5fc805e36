#pragma once
// Transformer over the positions of a feature map: self-attention, attention to the text, gated
// feed-forward.

#include <string>
#include <vector>

#include "ballast/models/sd/config.hpp"
#include "ballast/runtime/nn/layers.hpp"

namespace ballast::runtime::networks::sd {

/// Multi-head attention from x to a context (or to itself). No bias on q, k, v; scale
/// 1/sqrt(head width).
class Attention {
public:
    Attention(const nn::Binder& binder, std::string_view name, std::int64_t heads);

    /// x [B, n, width], context [B, m, any] -> [B, n, width].
    at::Tensor operator()(const nn::Forward& forward, const at::Tensor& x,
                          const at::Tensor& context) const;

private:
    [[nodiscard]] at::Tensor split(const at::Tensor& x) const;

    std::string path_;
    std::int64_t heads_;
    nn::Linear q_, k_, v_, out_;
};

/// Shazeer, "GLU Variants Improve Transformer", 2020: value * GELU(gate), exact GELU.
class FeedForward {
public:
    FeedForward(const nn::Binder& binder, std::string_view name);
    at::Tensor operator()(const nn::Forward& forward, const at::Tensor& x) const;

private:
    std::string path_;
    nn::Linear in_, out_;
};

class TransformerBlock {
public:
    TransformerBlock(const nn::Binder& binder, std::string_view name, std::int64_t heads);
    /// x is overwritten and returned.
    at::Tensor operator()(const nn::Forward& forward, at::Tensor x,
                          const at::Tensor& context) const;

private:
    std::string path_;
    nn::LayerNorm norm1_, norm2_, norm3_;
    Attention self_, cross_;
    FeedForward feed_forward_;
};

class SpatialTransformer {
public:
    SpatialTransformer(const nn::Binder& binder, std::string_view name, std::int64_t channels,
                       int depth, const models::sd::UNetConfig& config);

    /// x [B, C, h, w], context [B, tokens, width] -> [B, C, h, w].
    at::Tensor operator()(const nn::Forward& forward, const at::Tensor& x,
                          const at::Tensor& context) const;

private:
    std::string path_;
    nn::GroupNorm norm_;
    nn::Conv2d in_;
    std::vector<TransformerBlock> blocks_;
    nn::Conv2d out_;
};

}  // namespace ballast::runtime::networks::sd
