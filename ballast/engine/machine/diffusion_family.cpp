#include "ballast/engine/machine/diffusion_family.hpp"

#include <algorithm>
#include <array>

namespace ballast::machine {
namespace {

using enum DiffusionFamily;

/// The lists of formats that occur.
enum class Formats {
    fp16_first,
    bf16_first,
    bf16_only,
    fp16_first_if_extended,  ///< bf16 alone on runtimes with plain fp16
    bf16_first_if_extended,
};

/// What a factor is a multiple of.
enum class PerSize { nothing, dim, cross_attention_dim, model_channels };

struct Row {
    DiffusionFamily family;
    std::string_view name;
    Formats formats;
    double factor;  ///< where the size is unknown
    PerSize per = PerSize::nothing;
    double multiple = 0;  ///< of size / unit
    double unit = 1;
};

constexpr double kBaseFactor = 2.0;

// in the order of the enumeration
constexpr auto kFamilies = std::to_array<Row>({
    {sd15, "sd15", Formats::fp16_first, 1.0},
    {sd2, "sd2", Formats::fp16_first, 1.0},
    {sdxl, "sdxl", Formats::fp16_first, 0.8},
    {sdxl_refiner, "sdxl_refiner", Formats::fp16_first, 1.0},
    {sd3, "sd3", Formats::fp16_first, 1.6},
    {cascade_c, "cascade_c", Formats::bf16_only, kBaseFactor},
    {pixart, "pixart", Formats::fp16_first, 0.5},
    {aura_flow, "aura_flow", Formats::fp16_first, 2.0},
    {hunyuan_dit, "hunyuan_dit", Formats::fp16_first, 1.3},
    {hunyuan3d, "hunyuan3d", Formats::fp16_first, 3.5},
    {flux, "flux", Formats::bf16_first, 3.1},
    {flux_inpaint, "flux_inpaint", Formats::bf16_only, 3.1},
    {flux2, "flux2", Formats::bf16_first, 3.1 * 4 * 2.36},
    {chroma, "chroma", Formats::bf16_first, 3.2},
    {chroma_radiance, "chroma_radiance", Formats::bf16_first, 0.044},
    {lumina2, "lumina2", Formats::bf16_only, 1.4},
    {z_image, "z_image", Formats::bf16_first_if_extended, 2.0},
    {omnigen2, "omnigen2", Formats::fp16_first_if_extended, 1.95},
    {qwen_image, "qwen_image", Formats::bf16_only, 1.8},
    {hidream, "hidream", Formats::bf16_only, 2.0},
    {hunyuan_image, "hunyuan_image", Formats::bf16_only, 8.7},
    {kandinsky5, "kandinsky5", Formats::bf16_only, 1.25},
    {mochi, "mochi", Formats::bf16_only, 2.0},
    {ltxv, "ltxv", Formats::bf16_only, 5.5, PerSize::cross_attention_dim, 5.5, 2048},
    {ltx_audio_video, "ltx_audio_video", Formats::bf16_only, 0.055},
    {hunyuan_video, "hunyuan_video", Formats::bf16_only, 1.8},
    {hunyuan_video_15, "hunyuan_video_15", Formats::fp16_first, 4.0},
    {cosmos1, "cosmos1", Formats::bf16_first, 1.6},
    {cosmos_predict2, "cosmos_predict2", Formats::bf16_only, 1.0, PerSize::model_channels, 0.95,
     2048},
    {wan, "wan", Formats::fp16_first, kBaseFactor, PerSize::dim, 1.0, 2222},
    {wan_vace, "wan_vace", Formats::fp16_first, 1.2 * kBaseFactor, PerSize::dim, 1.2, 2222},
    {wan_s2v, "wan_s2v", Formats::fp16_first, kBaseFactor, PerSize::dim, 1.0, 2222},
    {ace_step, "ace_step", Formats::bf16_only, 0.5},
    {other, "other", Formats::fp16_first, kBaseFactor},
});

const Row& row(DiffusionFamily family) { return kFamilies[static_cast<std::size_t>(family)]; }

std::optional<double> size_of(PerSize per, const FamilySizes& sizes) {
    switch (per) {
        case PerSize::nothing: return std::nullopt;
        case PerSize::dim: return sizes.dim;
        case PerSize::cross_attention_dim: return sizes.cross_attention_dim;
        case PerSize::model_channels: return sizes.model_channels;
    }
    return std::nullopt;
}

}  // namespace

std::string_view to_string(DiffusionFamily family) { return row(family).name; }

std::optional<DiffusionFamily> parse_diffusion_family(std::string_view text) {
    const auto found = std::ranges::find(kFamilies, text, &Row::name);
    return found == kFamilies.end() ? std::nullopt : std::optional(found->family);
}

std::span<const NumberFormat> supported_formats(DiffusionFamily family, HalfSupport support) {
    const bool is_extended = support == HalfSupport::extended;
    switch (row(family).formats) {
        case Formats::fp16_first: return kFp16First;
        case Formats::bf16_first: return kBf16First;
        case Formats::bf16_only: return kBf16Only;
        case Formats::fp16_first_if_extended:
            if (is_extended) return kFp16First;
            return kBf16Only;
        case Formats::bf16_first_if_extended:
            if (is_extended) return kBf16First;
            return kBf16Only;
    }
    return kFp16First;
}

double memory_factor(DiffusionFamily family, const FamilySizes& sizes) {
    const auto& facts = row(family);
    const auto size = size_of(facts.per, sizes);
    return size ? facts.multiple * *size / facts.unit : facts.factor;
}

}  // namespace ballast::machine
