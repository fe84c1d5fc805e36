#include "ballast/models/sd/clip_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "ballast/models/tracing.hpp"

namespace ballast::models::sd {
namespace {

constexpr std::int64_t kWindow = 77;         ///< tokens
constexpr std::int64_t kWindowsAtOnce = 16;  ///< more are encoded in turns

/// Written like the network itself (runtime/text): what lives how long is what counts.
class ClipTrace {
public:
    ClipTrace(const ClipConfig& config, const plan::BlockTable& table, const StepShape& shape)
        : config_(config),
          layers_(table, shape.element_bytes),
          tokens_{.rows = size(std::min((shape.tokens + kWindow - 1) / kWindow, kWindowsAtOnce)),
                  .channels = size(config.hidden_size),
                  .height = size(kWindow)} {}

    Result<StepCosts> run() {
        // looked up in the type of activations, handed on in fp32
        auto looked_up = layers_.lookup("embeddings.token_embedding", tokens_);
        const auto given = layers_.fp32(tokens_);
        looked_up = {};
        const auto x = layers_.lookup("embeddings.position_embedding", tokens_);
        for (int i = 0; i < config_.num_hidden_layers; ++i)
            layer(fmt::format("encoder.layers.{}", i), x);
        const auto raw = layers_.fp32(tokens_);
        const auto last = layers_.norm("final_layer_norm", x);
        const auto normed = layers_.to_fp32(last);
        return layers_.costs();
    }

private:
    /// Overwrites `x`.
    void layer(const std::string& path, const TracedTensor& x) {
        const auto width = x.channels();
        {
            const auto attention = path + ".self_attn";
            const auto normed = layers_.norm(path + ".layer_norm1", x);
            const auto mixed = [&] {
                const auto q = layers_.linear(attention + ".q_proj", normed, width);
                const auto k = layers_.linear(attention + ".k_proj", normed, width);
                const auto v = layers_.linear(attention + ".v_proj", normed, width);
                return layers_.attention(q, k, v, size(config_.num_attention_heads));
            }();
            layers_.linear(attention + ".out_proj", mixed, width);
        }
        const auto h = layers_.linear(path + ".mlp.fc1", layers_.norm(path + ".layer_norm2", x),
                                      size(config_.intermediate_size));
        {
            // h * sigmoid(1.702 h)
            const auto scaled = layers_.tensor(h.extent());
            const auto gate = layers_.tensor(h.extent());
        }
        layers_.linear(path + ".mlp.fc2", h, width);
    }

    const ClipConfig& config_;
    Tracer layers_;
    Extent tokens_;
};

}  // namespace

Result<StepCosts> clip_costs(const ClipConfig& config, const plan::BlockTable& table,
                             const StepShape& shape) {
    if (auto ok = check(shape); !ok) return fail(std::move(ok).error());
    return ClipTrace(config, table, shape).run();
}

}  // namespace ballast::models::sd
