#include "ballast/runtime/text/clip_text_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::text {

ClipTextModel ClipTextModel::build(const models::sd::ClipConfig& config,
                                   const plan::BlockTable& table) {
    return ClipTextModel(config, nn::Binder(table));
}

ClipTextModel::ClipTextModel(const models::sd::ClipConfig& config, const nn::Binder& binder)
    : heads_(config.num_attention_heads),
      token_table_(binder, "embeddings.token_embedding"),
      position_table_(binder, "embeddings.position_embedding"),
      final_norm_(binder, "final_layer_norm") {
    for (int i = 0; i < config.num_hidden_layers; ++i) {
        const auto below = binder.below(fmt::format("encoder.layers.{}", i));
        layers_.push_back({.norm1 = {below, "layer_norm1"},
                           .q = {below, "self_attn.q_proj"},
                           .k = {below, "self_attn.k_proj"},
                           .v = {below, "self_attn.v_proj"},
                           .out = {below, "self_attn.out_proj"},
                           .norm2 = {below, "layer_norm2"},
                           .in_mlp = {below, "mlp.fc1"},
                           .out_mlp = {below, "mlp.fc2"},
                           .path = fmt::format("encoder.layers.{}", i)});
    }
    if (!config.has_token_ids) return;
    token_ids_ = binder.require(plan::kLooseBlock);
    const auto& loose = binder.table()[*token_ids_].tensors;
    const auto found = std::find_if(loose.begin(), loose.end(), [](const auto& tensor) {
        return tensor.name == models::sd::kTokenIds;
    });
    token_ids_index_ = static_cast<std::size_t>(found - loose.begin());
}

at::Tensor ClipTextModel::embed(const nn::Forward& forward, const at::Tensor& ids) const {
    auto rows = ids;
    if (token_ids_) {
        const auto layer = forward.pin(*token_ids_);
        const auto known = layer[token_ids_index_].to(at::kCPU, at::kInt).contiguous();
        const auto* first = known.const_data_ptr<std::int32_t>();
        const auto* last = first + known.numel();
        const auto row_of = [&](std::int64_t id) -> std::int64_t {
            const auto found = std::lower_bound(first, last, id);
            return found != last && *found == id ? found - first : -1;
        };
        const auto other = std::max<std::int64_t>(0, row_of(-1));
        rows = ids.contiguous().clone();
        auto* values = rows.mutable_data_ptr<std::int64_t>();
        for (std::int64_t i = 0; i < rows.numel(); ++i) {
            const auto row = row_of(values[i]);
            values[i] = row < 0 ? other : row;
        }
    }
    return nn::to_host(
        forward.weights().rows(token_table_.block(), token_table_.weight_index(), rows));
}

at::Tensor ClipTextModel::apply(const Layer& layer, const nn::Forward& forward,
                                at::Tensor x) const {
    const auto split = [this](const at::Tensor& t) {
        return t.view({t.size(0), t.size(1), heads_, t.size(2) / heads_}).transpose(1, 2);
    };
    {
        const auto normed = layer.norm1(forward, x);
        const auto mixed =
            ops::attention(split(layer.q(forward, normed)), split(layer.k(forward, normed)),
                           split(layer.v(forward, normed)), {}, true);
        x.add_(layer.out(forward, mixed.transpose(1, 2).reshape(x.sizes())));
    }
    auto h = layer.in_mlp(forward, layer.norm2(forward, x));
    h.mul_(ops::sigmoid(h.mul(1.702)));
    x.add_(layer.out_mlp(forward, h));
    forward.emit(layer.path, x);
    return x;
}

ClipTextModel::Output ClipTextModel::run(const nn::Forward& forward, const at::Tensor& tokens,
                                         const std::vector<std::int64_t>& end_positions,
                                         int layer) const {
    const auto count = static_cast<int>(layers_.size());
    const auto wanted = layer >= 0 || -layer > count ? count - 1 : count + layer;

    at::Tensor x;
    {
        const auto positions = forward.pin(position_table_.block());
        x = forward.to_compute(tokens).add(
            position_table_.weight(positions).narrow(0, 0, tokens.size(1)));
    }
    Output output;
    for (int i = 0; i < count; ++i) {
        x = apply(layers_[static_cast<std::size_t>(i)], forward, std::move(x));
        if (i == wanted) output.raw = nn::to_host(x).clone();
    }
    const auto last = final_norm_(forward, x);
    output.normed = wanted == count - 1
                        ? nn::to_host(last)
                        : nn::to_host(final_norm_(forward, forward.to_compute(output.raw)));
    std::vector<at::Tensor> pooled;
    for (std::int64_t b = 0; b < x.size(0); ++b)
        pooled.push_back(nn::to_host(last[b][end_positions[static_cast<std::size_t>(b)]]));
    output.pooled = ops::stack(pooled, 0);
    return output;
}

}  // namespace ballast::runtime::text
