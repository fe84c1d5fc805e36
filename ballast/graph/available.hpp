#pragma once
// What a workflow may name, because the original has it, but no runtime of this version computes.
// The check of workflows refuses it before anything is loaded, the runtime if it comes by a link.

#include <algorithm>
#include <array>
#include <string_view>

namespace ballast::graph {

/// The samplers that a runtime of this version computes, by the names that workflows use.
inline constexpr std::array<std::string_view, 13> kPortedSamplers{"euler",
                                                                  "euler_ancestral",
                                                                  "heun",
                                                                  "dpm_2",
                                                                  "dpm_2_ancestral",
                                                                  "lms",
                                                                  "dpmpp_2s_ancestral",
                                                                  "dpmpp_2m",
                                                                  "ddpm",
                                                                  "lcm",
                                                                  "ddim",
                                                                  "uni_pc",
                                                                  "uni_pc_bh2"};

inline bool is_ported_sampler(std::string_view name) {
    return std::ranges::find(kPortedSamplers, name) != kPortedSamplers.end();
}

/// Values of `weight_dtype` of UNETLoader.
inline bool is_available_weight_type(std::string_view name) { return name == "default"; }
inline constexpr std::string_view kWeightTypeHint =
    "use default: weights keep the type that they have in the file";

/// Values of `type` of CLIPLoader.
inline bool is_available_text_encoder(std::string_view name) { return name == "stable_diffusion"; }
inline constexpr std::string_view kTextEncoderHint =
    "Ballast runs Stable Diffusion 1.x so far: use stable_diffusion";

/// Values of `vae_name` of VAELoader: neither the small autoencoders nor none at all.
inline bool is_available_autoencoder(std::string_view name) {
    return name != "pixel_space" && !name.starts_with("tae");
}
inline constexpr std::string_view kAutoencoderHint = "use a file of the vae folder";

}  // namespace ballast::graph
