#pragma once
// What distinguishes one Stable Diffusion 1.x model from another: widths and depths. Defaults are
// the sizes of SD 1.5. Members bear the names that they have in reports and in `ballast.config`.

#include <cstdint>
#include <vector>

namespace ballast::models::sd {

/// Number of groups of every GroupNorm: min(max, channels / channels_per_group). All published
/// models have 32 at every width; narrow ones may say otherwise in their file.
struct NormGroups {
    std::int64_t max = 32;
    std::int64_t channels_per_group = 1;

    [[nodiscard]] constexpr std::int64_t of(std::int64_t channels) const {
        const auto wanted = channels / channels_per_group;
        return wanted < max ? wanted : max;
    }
    /// True if `channels` can be normalised in that many groups.
    [[nodiscard]] constexpr bool fits(std::int64_t channels) const {
        return of(channels) > 0 && channels % of(channels) == 0;
    }
    bool operator==(const NormGroups&) const = default;
};

/// The diffusion network.
struct UNetConfig {
    std::int64_t in_channels = 4;
    std::int64_t out_channels = 4;
    std::int64_t model_channels = 320;
    std::vector<std::int64_t> channel_mult{1, 2, 4, 4};  ///< width of each level / model_channels
    std::vector<int> num_res_blocks{2, 2, 2, 2};         ///< per level, on the way down
    /// Transformer blocks behind each residual block of the way down, in order; 0 = no transformer.
    std::vector<int> transformer_depth{1, 1, 1, 1, 1, 1, 0, 0};
    int transformer_depth_middle = 1;
    /// The same for the way up (num_res_blocks + 1 per level), from the last block to the first.
    std::vector<int> transformer_depth_output{1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0};
    std::int64_t context_dim = 768;  ///< width of the text
    std::int64_t num_heads = 8;      ///< at every width
    NormGroups norm_groups;

    bool operator==(const UNetConfig&) const = default;
};

/// The CLIP text encoder.
struct ClipConfig {
    std::int64_t hidden_size = 768;
    std::int64_t num_attention_heads = 12;
    int num_hidden_layers = 12;
    std::int64_t intermediate_size = 3072;
    std::int64_t max_positions = 77;
    std::int64_t token_rows = 49408;  ///< rows of the token table
    /// True if the table holds chosen tokens only, whose ids stand in `embeddings.token_ids`.
    bool has_token_ids = false;

    bool operator==(const ClipConfig&) const = default;
};

/// The autoencoder.
struct VaeConfig {
    std::int64_t ch = 128;
    std::vector<std::int64_t> ch_mult{1, 2, 4, 4};
    int num_res_blocks = 2;       ///< per level of the encoder; the decoder has one more
    std::int64_t z_channels = 4;  ///< the encoder returns twice as many (mean, log variance)
    std::int64_t embed_dim = 4;   ///< channels of a latent
    bool has_quant_convs = true;  ///< 1x1 convolutions between network and latent
    bool has_encoder = true;      ///< some files decode only
    NormGroups norm_groups;

    /// Pixels per latent cell along one axis: 8 for four levels.
    [[nodiscard]] std::int64_t factor() const { return std::int64_t{1} << (ch_mult.size() - 1); }
    bool operator==(const VaeConfig&) const = default;
};

}  // namespace ballast::models::sd
