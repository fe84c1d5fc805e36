#include "ballast/models/sd/vae_costs.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "ballast/models/tracing.hpp"

namespace ballast::models::sd {
namespace {

/// Written like the network itself (runtime/vae): what lives how long is what counts.
class VaeTrace {
public:
    VaeTrace(const VaeConfig& config, const plan::BlockTable& table, const StepShape& shape)
        : config_(config),
          layers_(table, shape.element_bytes),
          latents_{.rows = size(shape.batch),
                   .channels = size(config.embed_dim),
                   .height = size(shape.height),
                   .width = size(shape.width)},
          pictures_{.rows = size(shape.batch),
                    .channels = 3,
                    .height = size(shape.height * config.factor()),
                    .width = size(shape.width * config.factor())} {}

    Result<StepCosts> decode() {
        const auto given = layers_.fp32(latents_);
        {
            // the last picture, when all others are done
            const auto done = layers_.fp32(all_but_one(pictures_));
            auto z = layers_.tensor(one_of(latents_));
            if (config_.has_quant_convs)
                z = layers_.linear("post_quant_conv", z, size(config_.z_channels));
            const auto pixels = decoder(std::move(z));
            // from -1..1 to 0..1, limited, channels last
            const auto wide = layers_.to_fp32(pixels);
            const auto shifted = layers_.fp32(pixels.extent());
            const auto limited = layers_.fp32(pixels.extent());
        }
        const auto single = layers_.fp32(pictures_);
        const auto joined = layers_.fp32(pictures_);
        return layers_.costs();
    }

    Result<StepCosts> encode() {
        const auto given = layers_.fp32(pictures_);
        const auto pixels = layers_.fp32(pictures_);
        const auto done = layers_.fp32(all_but_one(latents_));
        auto moments = encoder(layers_.tensor(one_of(pictures_)));
        if (config_.has_quant_convs)
            moments = layers_.linear("quant_conv", moments, size(2 * config_.embed_dim));
        const auto mean = layers_.to_fp32(moments);
        return layers_.costs();
    }

private:
    static Extent one_of(Extent all) {
        all.rows = 1;
        return all;
    }
    static Extent all_but_one(Extent all) {
        --all.rows;
        return all;
    }
    [[nodiscard]] std::uint64_t width_of(std::size_t level) const {
        return size(config_.ch * config_.ch_mult[level]);
    }

    TracedTensor decoder(TracedTensor x) {
        x = layers_.convolution("decoder.conv_in", x, width_of(config_.ch_mult.size() - 1));
        x = middle("decoder.mid", std::move(x));
        for (auto level = config_.ch_mult.size(); level-- > 0;) {
            for (int i = 0; i <= config_.num_res_blocks; ++i)
                x = residual(fmt::format("decoder.up.{}.block.{}", level, i), x, width_of(level));
            if (level == 0) break;
            x = layers_.resized(x, 2 * x.extent().height, 2 * x.extent().width);
            x = layers_.convolution(fmt::format("decoder.up.{}.upsample.conv", level), x,
                                    x.channels());
        }
        x = layers_.norm("decoder.norm_out", x);
        return layers_.convolution("decoder.conv_out", x, 3);
    }

    TracedTensor encoder(TracedTensor x) {
        x = layers_.convolution("encoder.conv_in", x, size(config_.ch));
        for (std::size_t level = 0; level < config_.ch_mult.size(); ++level) {
            for (int i = 0; i < config_.num_res_blocks; ++i)
                x = residual(fmt::format("encoder.down.{}.block.{}", level, i), x, width_of(level));
            if (level + 1 == config_.ch_mult.size()) break;
            // padded at right and bottom only
            x = layers_.convolution(fmt::format("encoder.down.{}.downsample.conv", level),
                                    layers_.resized(x, x.extent().height + 1, x.extent().width + 1),
                                    x.channels(), {.stride = 2, .padding = 0});
        }
        x = middle("encoder.mid", std::move(x));
        return layers_.convolution("encoder.conv_out", layers_.norm("encoder.norm_out", x),
                                   size(2 * config_.z_channels));
    }

    TracedTensor middle(const std::string& path, TracedTensor x) {
        const auto width = x.channels();
        x = residual(path + ".block_1", x, width);
        x = attention(path + ".attn_1", x);
        return residual(path + ".block_2", x, width);
    }

    TracedTensor residual(const std::string& path, const TracedTensor& x, std::uint64_t out) {
        auto h = layers_.norm(path + ".norm1", x);
        h = layers_.convolution(path + ".conv1", h, out);
        h = layers_.norm(path + ".norm2", h);
        h = layers_.convolution(path + ".conv2", h, out);
        if (x.channels() != out) layers_.linear(path + ".nin_shortcut", x, out);
        return h;
    }

    TracedTensor attention(const std::string& path, const TracedTensor& x) {
        const auto width = x.channels();
        const auto normed = layers_.norm(path + ".norm", x);
        const auto mixed = [&] {
            const auto q = layers_.linear(path + ".q", normed, width);
            const auto k = layers_.linear(path + ".k", normed, width);
            const auto v = layers_.linear(path + ".v", normed, width);
            return layers_.attention(q, k, v, 1);
        }();
        return layers_.linear(path + ".proj_out", mixed, width);
    }

    const VaeConfig& config_;
    Tracer layers_;
    Extent latents_;
    Extent pictures_;
};

}  // namespace

Result<StepCosts> vae_decode_costs(const VaeConfig& config, const plan::BlockTable& table,
                                   const StepShape& shape) {
    if (auto ok = check(shape); !ok) return fail(std::move(ok).error());
    return VaeTrace(config, table, shape).decode();
}

Result<StepCosts> vae_encode_costs(const VaeConfig& config, const plan::BlockTable& table,
                                   const StepShape& shape) {
    if (auto ok = check(shape); !ok) return fail(std::move(ok).error());
    if (!config.has_encoder)
        return fail({.code = Code::unsupported,
                     .what = "cannot tell what encoding costs",
                     .why = "the autoencoder has no encoder",
                     .hint = "use a file with both halves"});
    return VaeTrace(config, table, shape).encode();
}

}  // namespace ballast::models::sd
