#include "ballast/engine/machine/vae_estimates.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ballast::machine {
namespace {

using enum VaeKind;
using Formats = std::vector<NumberFormat>;

const Formats kHalfFirst{NumberFormat::fp16, NumberFormat::bf16, NumberFormat::fp32};
const Formats kBrainFirst{NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32};
const Formats kBrainOnly{NumberFormat::bf16, NumberFormat::fp32};
const Formats kHalfOnly{NumberFormat::fp16, NumberFormat::fp32};

DeviceProfile gpu(const char* vendor) {
    DeviceProfile made;
    made.id = {DeviceKind::cuda, 0};
    made.vendor = vendor;
    return made;
}

double encode(VaeKind vae, const Shape& pixels, NumberFormat format = NumberFormat::bf16) {
    return encode_estimate(vae, pixels, format, gpu("nvidia"));
}

double decode(VaeKind vae, const Shape& latent, NumberFormat format = NumberFormat::bf16) {
    return decode_estimate(vae, latent, format, gpu("nvidia"));
}

struct Estimate {
    VaeKind vae;
    Shape shape;
    double per_byte;  ///< the estimate per byte of a number
};

TEST(EncodeEstimate, FollowsTheTable) {
    const Estimate rows[] = {
        {kl, {1, 3, 10, 20}, 1767 * 200},
        {kl, {5, 3, 10, 20}, 1767 * 200},  // one sample at a time
        {kl_flux2, {1, 3, 10, 20}, 1767 * 200},
        {hunyuan_image, {1, 3, 10, 20}, 700 * 200},
        {hunyuan_video, {1, 3, 5, 10, 20}, 1400 * 5 * 200},
        {hunyuan_video, {1, 3, 33, 10, 20}, 1400 * 9 * 200},
        {hunyuan_video_15, {1, 3, 33, 10, 20}, 12'600 * 200},
        {hunyuan_refiner, {1, 3, 33, 10, 20}, 2800 * 200},
        {wan21, {1, 3, 4, 10, 20}, 1500 * 200},
        {wan21, {1, 3, 5, 10, 20}, 6000 * 200},
        {wan21, {1, 3, 100, 20}, 1500 * 2000},  // a picture
        {wan22, {1, 3, 33, 10, 20}, 3300 * 200},
        {ltxv, {1, 3, 1, 10, 20}, 70 * 7 * 200},
        {ltxv, {1, 3, 9, 10, 20}, 70 * 9 * 200},
        {mochi, {1, 3, 1, 10, 20}, 1.5 * 7 * 200 * 384},
        {mochi, {1, 3, 13, 10, 20}, 1.5 * 13 * 200 * 384},
        {cosmos, {1, 3, 1, 10, 20}, 50 * 8 * 1 * 200},
        {cosmos, {1, 3, 5, 10, 20}, 50 * 8 * 2 * 200},   // 1.5 goes to 2
        {cosmos, {1, 3, 13, 10, 20}, 50 * 8 * 2 * 200},  // 2.5 goes to 2, the even neighbour
        {cosmos, {1, 3, 121, 10, 20}, 50 * 8 * 16 * 200},
        {stable_audio, {1, 2, 44'100}, 1000 * 44'100},
        {ace_step, {1, 2, 44'100}, 330 * 44'100},
        {pixel_space, {1, 3, 10, 20}, 200},
    };
    for (const auto& row : rows) {
        EXPECT_DOUBLE_EQ(encode(row.vae, row.shape, NumberFormat::bf16), 2 * row.per_byte)
            << to_string(row.vae);
        EXPECT_DOUBLE_EQ(encode(row.vae, row.shape, NumberFormat::fp32), 4 * row.per_byte)
            << to_string(row.vae);
    }
}

TEST(DecodeEstimate, FollowsTheTable) {
    const Estimate rows[] = {
        {kl, {1, 4, 3, 5}, 2178 * 15 * 64},
        {kl, {7, 16, 3, 5}, 2178 * 15 * 64},
        {kl_flux2, {1, 128, 3, 5}, 2178 * 15 * 64 * 4},
        {hunyuan_image, {1, 64, 3, 5}, 700 * 15 * 1024},
        {hunyuan_video, {1, 16, 1, 3, 5}, 2800 * 1 * 15 * 64},
        {hunyuan_video, {1, 16, 2, 3, 5}, 2800 * 5 * 15 * 64},
        {hunyuan_video, {1, 16, 9, 3, 5}, 2800 * 8 * 15 * 64},
        {hunyuan_video_15, {1, 32, 9, 3, 5}, 14'400 * 15 * 256},
        {hunyuan_refiner, {1, 32, 9, 3, 5}, 2800 * 9 * 15 * 256},
        {wan21, {1, 16, 4, 3, 5}, 2200 * 15 * 64},
        {wan21, {1, 16, 5, 3, 5}, 7000 * 15 * 64},
        {wan22, {1, 48, 9, 3, 5}, 8000 * 15 * 256},
        {ltxv, {1, 128, 9, 3, 5}, 900 * 9 * 15 * 512},
        {mochi, {1, 12, 9, 3, 5}, 1000 * 9 * 15 * 384},
        {cosmos, {1, 16, 9, 3, 5}, 50 * 9 * 15 * 512},
        {stable_audio, {1, 64, 1024}, 1000.0 * 1024 * 2048},
        {ace_step, {1, 8, 16, 300}, 87'000 * 16 * 300},
        {pixel_space, {1, 3, 3, 5}, 15},
    };
    for (const auto& row : rows) {
        EXPECT_DOUBLE_EQ(decode(row.vae, row.shape, NumberFormat::bf16), 2 * row.per_byte)
            << to_string(row.vae);
        EXPECT_DOUBLE_EQ(decode(row.vae, row.shape, NumberFormat::fp32), 4 * row.per_byte)
            << to_string(row.vae);
    }
}

TEST(VaeEstimates, OfKlAreLargerOnAmd) {
    const auto bf16 = NumberFormat::bf16;
    for (const auto vae : {kl, kl_flux2}) {
        EXPECT_DOUBLE_EQ(encode_estimate(vae, {1, 3, 10, 20}, bf16, gpu("amd")),
                         2.73 * encode(vae, {1, 3, 10, 20}));
        EXPECT_DOUBLE_EQ(decode_estimate(vae, {1, 4, 3, 5}, bf16, gpu("amd")),
                         2.73 * decode(vae, {1, 4, 3, 5}));
    }
    EXPECT_DOUBLE_EQ(decode_estimate(wan21, {1, 16, 4, 3, 5}, bf16, gpu("amd")),
                     decode(wan21, {1, 16, 4, 3, 5}));
}

TEST(VaeFacts, HoldRatiosChannelsAndFormats) {
    const struct {
        VaeKind vae;
        const char* name;
        std::int64_t spatial;
        std::int64_t temporal;
        std::optional<std::int64_t> channels;
        Formats formats;
        bool forces_full_load;
    } rows[] = {
        {kl, "kl", 8, 1, {}, kBrainOnly, false},
        {kl_flux2, "kl_flux2", 16, 1, {}, kBrainOnly, false},
        {hunyuan_image, "hunyuan_image", 32, 1, 64, kHalfFirst, false},
        {hunyuan_video, "hunyuan_video", 8, 4, {}, kBrainFirst, false},
        {hunyuan_video_15, "hunyuan_video_15", 16, 4, 32, kHalfFirst, false},
        {hunyuan_refiner, "hunyuan_refiner", 16, 4, 32, kHalfFirst, false},
        {wan21, "wan21", 8, 4, 16, kBrainFirst, false},
        {wan22, "wan22", 16, 4, 48, kBrainFirst, false},
        {ltxv, "ltxv", 32, 8, 128, kBrainOnly, false},
        {mochi, "mochi", 8, 6, 12, kHalfOnly, false},
        {cosmos, "cosmos", 8, 8, 16, kBrainOnly, false},
        {stable_audio, "stable_audio", 2048, 1, 64, kHalfFirst, true},
        {ace_step, "ace_step", 4096, 1, {}, kBrainFirst, true},
        {pixel_space, "pixel_space", 1, 1, 3, kBrainOnly, false},
    };
    ASSERT_EQ(std::size(rows), static_cast<std::size_t>(pixel_space) + 1);
    for (const auto& row : rows) {
        const auto facts = facts_of(row.vae);
        EXPECT_EQ(to_string(row.vae), row.name);
        EXPECT_EQ(parse_vae_kind(row.name), row.vae);
        EXPECT_EQ(facts.spatial_ratio, row.spatial) << row.name;
        EXPECT_EQ(facts.temporal_ratio, row.temporal) << row.name;
        EXPECT_EQ(facts.channels, row.channels) << row.name;
        EXPECT_EQ(Formats(facts.formats.begin(), facts.formats.end()), row.formats) << row.name;
        EXPECT_EQ(facts.forces_full_load, row.forces_full_load) << row.name;
    }
    EXPECT_EQ(parse_vae_kind("wan23"), std::nullopt);
}

TEST(Frames, TranslateToThoseOfTheLatentAndBack) {
    const struct {
        VaeKind vae;
        std::int64_t latent;
        std::int64_t frames;
    } rows[] = {{wan21, 21, 81}, {wan21, 1, 1},     {wan21, 0, 0}, {ltxv, 13, 97},
                {mochi, 5, 25},  {cosmos, 16, 121}, {kl, 7, 7}};
    for (const auto& row : rows) {
        EXPECT_EQ(frames_of(row.vae, row.latent), row.frames) << to_string(row.vae);
        EXPECT_EQ(latent_frames_of(row.vae, row.frames), row.latent) << to_string(row.vae);
    }
    EXPECT_EQ(latent_frames_of(wan21, 82), 21) << "frames that fill no group are left out";
    EXPECT_EQ(latent_frames_of(wan21, 84), 21);
    EXPECT_EQ(latent_frames_of(wan21, 85), 22);
    EXPECT_EQ(latent_frames_of(wan21, -9), 0);
    EXPECT_EQ(frames_of(wan21, -9), 0);
}

}  // namespace
}  // namespace ballast::machine
