#pragma once
// Latents as they travel between nodes, and their mapping into the space that a model works in.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace ballast::runtime::sampling {

/// What a LATENT link carries. Values are as the autoencoder writes and reads them.
struct Latent {
    at::Tensor samples;                     ///< [B, C, h, w], fp32
    at::Tensor noise_mask;                  ///< [.., H, W], 1 = change; undefined: change all
    std::vector<std::int64_t> batch_index;  ///< which noise each picture gets; empty: in order
};

/// model = (latent - shift) * scale.
struct LatentFormat {
    std::int64_t channels = 4;
    float scale = 0.18215F;
    float shift = 0.0F;

    [[nodiscard]] at::Tensor to_model(const at::Tensor& latent) const;
    [[nodiscard]] at::Tensor from_model(const at::Tensor& model) const;
};

inline constexpr LatentFormat kSd1Latent{};

/// Nothing to start from: every value is zero.
bool is_blank(const at::Tensor& latent);

/// `latent` for a model of `channels` channels. A blank latent is given the right number; any
/// other must have it. Throws `Failure` (`bad_value`) if it does not, or is not [B, C, h, w] with
/// at least one value.
at::Tensor with_channels(const at::Tensor& latent, std::int64_t channels);

/// A mask [.., H, W] of any size as one for a latent of `shape` [B, C, h, w]: resampled
/// bilinearly, repeated or cut to [B, 1, h, w]. Throws `Failure` (`bad_value`) for an empty mask.
at::Tensor latent_mask(const at::Tensor& mask, at::IntArrayRef shape);

/// The first axis repeated from its start, or cut, to `count` rows.
at::Tensor repeated_to(const at::Tensor& rows, std::int64_t count);

}  // namespace ballast::runtime::sampling
