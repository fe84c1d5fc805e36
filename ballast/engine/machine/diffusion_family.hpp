#pragma once
// What the memory rules know of each family of diffusion models: the formats it works in, and how
// much memory a step takes. Figures of ComfyUI 0.8.0.

#include <optional>
#include <span>
#include <string_view>

#include "ballast/engine/machine/number_formats.hpp"

namespace ballast::machine {

enum class DiffusionFamily {
    sd15,
    sd2,
    sdxl,
    sdxl_refiner,
    sd3,
    cascade_c,
    pixart,
    aura_flow,
    hunyuan_dit,
    hunyuan3d,  ///< Hunyuan3D v2
    flux,
    flux_inpaint,
    flux2,
    chroma,
    chroma_radiance,
    lumina2,
    z_image,
    omnigen2,
    qwen_image,
    hidream,
    hunyuan_image,  ///< 2.1
    kandinsky5,
    mochi,
    ltxv,
    ltx_audio_video,
    hunyuan_video,
    hunyuan_video_15,
    cosmos1,
    cosmos_predict2,
    wan,  ///< 2.1 and 2.2
    wan_vace,
    wan_s2v,
    ace_step,
    other,  ///< any that is not listed
};

/// "hunyuan_video_15" and so on.
std::string_view to_string(DiffusionFamily family);
std::optional<DiffusionFamily> parse_diffusion_family(std::string_view text);

/// Whether the runtime's fp16 is exact enough for models that overflowed on former ones (torch
/// from 2.7).
enum class HalfSupport { plain, extended };

/// The formats that the family works in, best first.
std::span<const NumberFormat> supported_formats(DiffusionFamily family, HalfSupport support);

/// The sizes of a network on which its family's factor depends.
struct FamilySizes {
    std::optional<double> dim{};                  ///< Wan: width of the blocks
    std::optional<double> cross_attention_dim{};  ///< LTXV
    std::optional<double> model_channels{};       ///< Cosmos-Predict2
};

/// Memory of a step per element of the input's area, in units that `step_estimate` explains:
/// a constant, or a multiple of one of `sizes`. Where that is unknown: 5.5 for LTXV, 1.0 for
/// Cosmos-Predict2, and for Wan the 2.0 of families that are not listed (VACE: 1.2 times that).
double memory_factor(DiffusionFamily family, const FamilySizes& sizes = {});

}  // namespace ballast::machine
