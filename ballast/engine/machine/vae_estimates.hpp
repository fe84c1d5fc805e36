#pragma once
// How much memory a VAE takes to encode or decode one sample, and the sizes of its latents.
//
// Rules of thumb of ComfyUI 0.8.0. Estimates are real numbers of bytes beside the weights.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ballast/engine/machine/estimates.hpp"

namespace ballast::machine {

enum class VaeKind {
    kl,             ///< SD1, SDXL, SD3, Flux
    kl_flux2,       ///< Flux2: twice the ratio, four times the channels
    hunyuan_image,  ///< 2.1
    hunyuan_video,
    hunyuan_video_15,
    hunyuan_refiner,
    wan21,
    wan22,
    ltxv,
    mochi,
    cosmos,
    stable_audio,
    ace_step,
    pixel_space,
};

/// "kl", "wan21" and so on.
std::string_view to_string(VaeKind vae);
std::optional<VaeKind> parse_vae_kind(std::string_view text);

struct VaeFacts {
    std::int64_t spatial_ratio = 1;          ///< pixels (sound: samples) per element of the latent
    std::int64_t temporal_ratio = 1;         ///< frames per frame of the latent; pictures, sound: 1
    std::optional<std::int64_t> channels{};  ///< of the latent; empty: as the weights say
    std::span<const NumberFormat> formats{};  ///< it works in, best first
    bool forces_full_load = false;            ///< its weights are never streamed
};
VaeFacts facts_of(VaeKind vae);

/// Bytes to encode one sample of pixels [N, 3, H, W], film [N, 3, T, H, W] or sound [N, 2,
/// samples]; H W (sound: samples) times the kind's figure times the bytes of `format`. N does not
/// count. On a machine whose primary device is AMD, KL figures are 2.73 times as large.
double encode_estimate(VaeKind vae, const Shape& pixels, NumberFormat format,
                       const DeviceProfile& primary);

/// The same to decode one sample of a latent [N, C, h, w], [N, C, t, h, w] or [N, C, length].
double decode_estimate(VaeKind vae, const Shape& latent, NumberFormat format,
                       const DeviceProfile& primary);

/// Frames of a film from those of its latent: max(0, r t - (r - 1)).
std::int64_t frames_of(VaeKind vae, std::int64_t latent_frames);

/// Frames of the latent of a film: max(0, floor((T + r - 1) / r)).
std::int64_t latent_frames_of(VaeKind vae, std::int64_t frames);

}  // namespace ballast::machine
