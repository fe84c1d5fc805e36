#include "ballast/engine/machine/diffusion_family.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace ballast::machine {
namespace {

using enum DiffusionFamily;
using Formats = std::vector<NumberFormat>;

const Formats kHalfFirst{NumberFormat::fp16, NumberFormat::bf16, NumberFormat::fp32};
const Formats kBrainFirst{NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32};
const Formats kBrainOnly{NumberFormat::bf16, NumberFormat::fp32};

struct Row {
    DiffusionFamily family;
    const char* name;
    double factor;  ///< without sizes
    Formats formats;
    Formats plain;  ///< on a runtime with plain fp16
};

const std::vector<Row>& rows() {
    static const std::vector<Row> all{
        {sd15, "sd15", 1.0, kHalfFirst, kHalfFirst},
        {sd2, "sd2", 1.0, kHalfFirst, kHalfFirst},
        {sdxl, "sdxl", 0.8, kHalfFirst, kHalfFirst},
        {sdxl_refiner, "sdxl_refiner", 1.0, kHalfFirst, kHalfFirst},
        {sd3, "sd3", 1.6, kHalfFirst, kHalfFirst},
        {cascade_c, "cascade_c", 2.0, kBrainOnly, kBrainOnly},
        {pixart, "pixart", 0.5, kHalfFirst, kHalfFirst},
        {aura_flow, "aura_flow", 2.0, kHalfFirst, kHalfFirst},
        {hunyuan_dit, "hunyuan_dit", 1.3, kHalfFirst, kHalfFirst},
        {hunyuan3d, "hunyuan3d", 3.5, kHalfFirst, kHalfFirst},
        {flux, "flux", 3.1, kBrainFirst, kBrainFirst},
        {flux_inpaint, "flux_inpaint", 3.1, kBrainOnly, kBrainOnly},
        {flux2, "flux2", 29.264, kBrainFirst, kBrainFirst},
        {chroma, "chroma", 3.2, kBrainFirst, kBrainFirst},
        {chroma_radiance, "chroma_radiance", 0.044, kBrainFirst, kBrainFirst},
        {lumina2, "lumina2", 1.4, kBrainOnly, kBrainOnly},
        {z_image, "z_image", 2.0, kBrainFirst, kBrainOnly},
        {omnigen2, "omnigen2", 1.95, kHalfFirst, kBrainOnly},
        {qwen_image, "qwen_image", 1.8, kBrainOnly, kBrainOnly},
        {hidream, "hidream", 2.0, kBrainOnly, kBrainOnly},
        {hunyuan_image, "hunyuan_image", 8.7, kBrainOnly, kBrainOnly},
        {kandinsky5, "kandinsky5", 1.25, kBrainOnly, kBrainOnly},
        {mochi, "mochi", 2.0, kBrainOnly, kBrainOnly},
        {ltxv, "ltxv", 5.5, kBrainOnly, kBrainOnly},
        {ltx_audio_video, "ltx_audio_video", 0.055, kBrainOnly, kBrainOnly},
        {hunyuan_video, "hunyuan_video", 1.8, kBrainOnly, kBrainOnly},
        {hunyuan_video_15, "hunyuan_video_15", 4.0, kHalfFirst, kHalfFirst},
        {cosmos1, "cosmos1", 1.6, kBrainFirst, kBrainFirst},
        {cosmos_predict2, "cosmos_predict2", 1.0, kBrainOnly, kBrainOnly},
        {wan, "wan", 2.0, kHalfFirst, kHalfFirst},
        {wan_vace, "wan_vace", 2.4, kHalfFirst, kHalfFirst},
        {wan_s2v, "wan_s2v", 2.0, kHalfFirst, kHalfFirst},
        {ace_step, "ace_step", 0.5, kBrainOnly, kBrainOnly},
        {other, "other", 2.0, kHalfFirst, kHalfFirst},
    };
    return all;
}

Formats formats_of(DiffusionFamily family, HalfSupport support) {
    const auto formats = supported_formats(family, support);
    return {formats.begin(), formats.end()};
}

TEST(DiffusionFamily, HasNameFactorAndFormats) {
    ASSERT_EQ(rows().size(), static_cast<std::size_t>(other) + 1) << "a family lacks its row";
    for (const auto& row : rows()) {
        EXPECT_EQ(to_string(row.family), row.name);
        EXPECT_EQ(parse_diffusion_family(row.name), row.family);
        EXPECT_DOUBLE_EQ(memory_factor(row.family), row.factor) << row.name;
        EXPECT_EQ(formats_of(row.family, HalfSupport::extended), row.formats) << row.name;
        EXPECT_EQ(formats_of(row.family, HalfSupport::plain), row.plain) << row.name;
    }
    EXPECT_EQ(parse_diffusion_family("sd16"), std::nullopt);
}

TEST(MemoryFactor, GrowsWithTheSizeThatItsFamilyNames) {
    EXPECT_DOUBLE_EQ(memory_factor(ltxv, {.cross_attention_dim = 4096}), 11.0);
    EXPECT_DOUBLE_EQ(memory_factor(wan, {.dim = 5120}), 5120.0 / 2222.0);
    EXPECT_DOUBLE_EQ(memory_factor(wan_s2v, {.dim = 5120}), 5120.0 / 2222.0);
    EXPECT_DOUBLE_EQ(memory_factor(wan_vace, {.dim = 1536}), 1.2 * 1536.0 / 2222.0);
    EXPECT_DOUBLE_EQ(memory_factor(cosmos_predict2, {.model_channels = 2048}), 0.95);
    EXPECT_DOUBLE_EQ(memory_factor(cosmos_predict2, {.model_channels = 5120}), 2.375);
}

TEST(MemoryFactor, LooksAtNoOtherSize) {
    const FamilySizes sizes{.dim = 1, .cross_attention_dim = 1, .model_channels = 1};
    const std::set<DiffusionFamily> depend{ltxv, wan, wan_s2v, wan_vace, cosmos_predict2};
    for (const auto& row : rows()) {
        if (depend.contains(row.family)) continue;
        EXPECT_DOUBLE_EQ(memory_factor(row.family, sizes), row.factor) << row.name;
    }
    EXPECT_DOUBLE_EQ(memory_factor(ltxv, {.dim = 1, .model_channels = 1}), 5.5);
    EXPECT_DOUBLE_EQ(memory_factor(wan, {.cross_attention_dim = 1, .model_channels = 1}), 2.0);
    EXPECT_DOUBLE_EQ(memory_factor(cosmos_predict2, {.dim = 1, .cross_attention_dim = 1}), 1.0);
}

}  // namespace
}  // namespace ballast::machine
