#include "ballast/models/sd/unet_costs.hpp"

#include <optional>
#include <string>
#include <utility>

#include "ballast/models/sd/unet.hpp"
#include "ballast/models/tracing.hpp"

namespace ballast::models::sd {
namespace {

/// Written like the network itself (runtime/networks/sd): what lives how long is what counts.
class UNetTrace {
public:
    UNetTrace(const UNetConfig& config, const plan::BlockTable& table, const StepShape& shape)
        : config_(config),
          layers_(table, shape.element_bytes),
          latents_{.rows = size(shape.batch) * size(shape.sides),
                   .channels = size(config.in_channels),
                   .height = size(shape.height),
                   .width = size(shape.width)},
          texts_{.rows = latents_.rows,
                 .channels = size(config.context_dim),
                 .height = size(shape.tokens)} {}

    Result<StepCosts> run() {
        const auto stages = layout(config_);
        const auto latents = layers_.fp32(latents_);
        const auto given_texts = layers_.fp32(texts_);
        embed_timesteps();
        context_ = layers_.from_fp32(given_texts);
        auto h = layers_.tensor(latents_);  // in channels-last order
        std::vector<TracedTensor> skips;
        for (const auto& stage : stages.input) {
            h = apply(stage, std::move(h), std::nullopt);
            skips.push_back(h);
        }
        const auto width = size(stages.middle_channels);
        h = residual("middle_block.0", h, width);
        h = transformer("middle_block.1", h, stages.middle_depth);
        h = residual("middle_block.2", h, width);
        for (const auto& stage : stages.output) {
            auto joined = layers_.joined(h, skips.back());
            h = {};
            skips.pop_back();
            h = apply(stage, std::move(joined),
                      skips.empty() ? std::nullopt : std::optional(skips.back().extent()));
        }
        const auto noise =
            layers_.convolution("out.2", layers_.norm("out.0", h), size(config_.out_channels));
        const auto result = layers_.fp32(noise.extent());
        return layers_.costs();
    }

private:
    void embed_timesteps() {
        const auto width = size(4 * config_.model_channels);
        embedding_ = layers_.linear(
            "time_embed.0",
            layers_.tensor({.rows = latents_.rows, .channels = size(config_.model_channels)}),
            width);
        embedding_ = layers_.linear("time_embed.2", embedding_, width);
    }

    /// `next_skip` is the size that upsampling goes to; without one, twice the size.
    TracedTensor apply(const UNetStage& stage, TracedTensor x, std::optional<Extent> next_skip) {
        const auto out = size(stage.out_channels);
        switch (stage.kind) {
            case UNetStage::Kind::convolution:
                return layers_.convolution(stage.path + ".0", x, out);
            case UNetStage::Kind::downsampling:
                return layers_.convolution(stage.path + ".0.op", x, out, {.stride = 2});
            case UNetStage::Kind::residual: break;
        }
        int next = 0;
        const auto part = [&] { return stage.path + "." + std::to_string(next++); };
        x = residual(part(), x, out);
        if (stage.depth > 0) x = transformer(part(), x, stage.depth);
        if (stage.then == UNetStage::Then::upsampling) {
            const auto height = next_skip ? next_skip->height : 2 * x.extent().height;
            const auto width = next_skip ? next_skip->width : 2 * x.extent().width;
            x = layers_.convolution(part() + ".conv", layers_.resized(x, height, width), out);
        }
        return x;
    }

    TracedTensor residual(const std::string& path, const TracedTensor& x, std::uint64_t out) {
        auto h =
            layers_.convolution(path + ".in_layers.2", layers_.norm(path + ".in_layers.0", x), out);
        layers_.linear(path + ".emb_layers.1", embedding_, out);
        h = layers_.norm(path + ".out_layers.0", h);
        h = layers_.convolution(path + ".out_layers.3", h, out);
        if (x.channels() != out) layers_.linear(path + ".skip_connection", x, out);
        return h;
    }

    TracedTensor transformer(const std::string& path, const TracedTensor& x, int depth) {
        const auto width = x.channels();
        const auto h = layers_.linear(path + ".proj_in", layers_.norm(path + ".norm", x), width);
        for (int i = 0; i < depth; ++i)
            transformer_block(path + ".transformer_blocks." + std::to_string(i), h);
        return layers_.linear(path + ".proj_out", h, width);
    }

    /// Overwrites `x`.
    void transformer_block(const std::string& path, const TracedTensor& x) {
        {
            const auto normed = layers_.norm(path + ".norm1", x);
            attention(path + ".attn1", normed, normed);
        }
        attention(path + ".attn2", layers_.norm(path + ".norm2", x), context_);
        const auto normed = layers_.norm(path + ".norm3", x);
        const auto gated = layers_.linear(path + ".ff.net.0.proj", normed, 8 * x.channels());
        layers_.linear(path + ".ff.net.2", gated.narrowed(4 * x.channels()), x.channels());
    }

    void attention(const std::string& path, const TracedTensor& x, const TracedTensor& context) {
        const auto mixed = [&] {
            const auto q = layers_.linear(path + ".to_q", x, x.channels());
            const auto k = layers_.linear(path + ".to_k", context, x.channels());
            const auto v = layers_.linear(path + ".to_v", context, x.channels());
            return layers_.attention(q, k, v, size(config_.num_heads));
        }();
        layers_.linear(path + ".to_out.0", mixed, x.channels());
    }

    const UNetConfig& config_;
    Tracer layers_;
    Extent latents_;
    Extent texts_;
    TracedTensor embedding_;
    TracedTensor context_;
};

}  // namespace

Result<StepCosts> unet_costs(const UNetConfig& config, const plan::BlockTable& table,
                             const StepShape& shape) {
    if (auto ok = check(shape); !ok) return fail(std::move(ok).error());
    return UNetTrace(config, table, shape).run();
}

}  // namespace ballast::models::sd
