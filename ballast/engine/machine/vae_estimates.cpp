#include "ballast/engine/machine/vae_estimates.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "ballast/engine/machine/memory_class.hpp"

namespace ballast::machine {
namespace {

using enum VaeKind;

constexpr double kAmdKlFactor = 2.73;

/// A shape by the meaning of its axes; what it does not have is 1.
struct Extent {
    double frames = 1;
    double height = 1;
    double width = 1;
    double third = 1;  ///< the axis after the channels, whatever it means

    [[nodiscard]] double plane() const { return height * width; }
};

Extent extent_of(const Shape& shape) {
    const auto at = [&](std::size_t axis) { return static_cast<double>(shape[axis]); };
    const auto rank = shape.size();
    Extent extent;
    if (rank > 2) extent.third = at(2);
    if (rank > 2) extent.width = at(rank - 1);
    if (rank > 3) extent.height = at(rank - 2);
    if (rank > 4) extent.frames = at(2);
    return extent;
}

/// Bytes per byte of a number.
using Figure = double (*)(const Extent&);

// Figures that depend on the number of frames: what these networks hold at a time.
double hunyuan_video_encode(const Extent& e) { return 1400 * std::min(9.0, e.frames) * e.plane(); }
double hunyuan_video_decode(const Extent& e) {
    return 2800 * std::min(8.0, 4 * (e.frames - 1) + 1) * e.plane() * 64;
}
double wan21_encode(const Extent& e) { return (e.frames <= 4 ? 1500 : 6000) * e.plane(); }
double wan21_decode(const Extent& e) { return (e.frames <= 4 ? 2200 : 7000) * e.plane() * 64; }
double ltxv_encode(const Extent& e) { return 70 * std::max(e.frames, 7.0) * e.plane(); }
double mochi_encode(const Extent& e) { return 1.5 * std::max(e.frames, 7.0) * e.plane() * 384; }
double cosmos_encode(const Extent& e) {
    // halves go to the even neighbour, as they do where the figure comes from
    return 50 * 8 * std::nearbyint((e.frames + 7) / 8) * e.plane();
}

constexpr auto kFp16Only = std::to_array({NumberFormat::fp16, NumberFormat::fp32});

struct Row {
    VaeKind kind;
    std::string_view name;
    VaeFacts facts;
    Figure encode;
    Figure decode;
};

constexpr VaeFacts facts(std::int64_t spatial, std::int64_t temporal,
                         std::optional<std::int64_t> channels,
                         std::span<const NumberFormat> formats, bool forces_full_load = false) {
    return {spatial, temporal, channels, formats, forces_full_load};
}

using E = const Extent&;

// in the order of the enumeration
// clang-format off
constexpr auto kVaes = std::to_array<Row>({
    {kl, "kl", facts(8, 1, {}, kBf16Only),
     [](E e) { return 1767 * e.plane(); }, [](E e) { return 2178 * e.plane() * 64; }},
    {kl_flux2, "kl_flux2", facts(16, 1, {}, kBf16Only),
     [](E e) { return 1767 * e.plane(); }, [](E e) { return 2178 * e.plane() * 64 * 4; }},
    {hunyuan_image, "hunyuan_image", facts(32, 1, 64, kFp16First),
     [](E e) { return 700 * e.plane(); }, [](E e) { return 700 * e.plane() * 1024; }},
    {hunyuan_video, "hunyuan_video", facts(8, 4, {}, kBf16First),
     hunyuan_video_encode, hunyuan_video_decode},
    {hunyuan_video_15, "hunyuan_video_15", facts(16, 4, 32, kFp16First),
     [](E e) { return 12600 * e.plane(); }, [](E e) { return 14400 * e.plane() * 256; }},
    {hunyuan_refiner, "hunyuan_refiner", facts(16, 4, 32, kFp16First),
     [](E e) { return 2800 * e.plane(); }, [](E e) { return 2800 * e.frames * e.plane() * 256; }},
    {wan21, "wan21", facts(8, 4, 16, kBf16First), wan21_encode, wan21_decode},
    {wan22, "wan22", facts(16, 4, 48, kBf16First),
     [](E e) { return 3300 * e.plane(); }, [](E e) { return 8000 * e.plane() * 256; }},
    {ltxv, "ltxv", facts(32, 8, 128, kBf16Only),
     ltxv_encode, [](E e) { return 900 * e.frames * e.plane() * 512; }},
    {mochi, "mochi", facts(8, 6, 12, kFp16Only),
     mochi_encode, [](E e) { return 1000 * e.frames * e.plane() * 384; }},
    {cosmos, "cosmos", facts(8, 8, 16, kBf16Only),
     cosmos_encode, [](E e) { return 50 * e.frames * e.plane() * 512; }},
    {stable_audio, "stable_audio", facts(2048, 1, 64, kFp16First, true),
     [](E e) { return 1000 * e.third; }, [](E e) { return 1000 * e.third * 2048; }},
    {ace_step, "ace_step", facts(4096, 1, {}, kBf16First, true),
     [](E e) { return 330 * e.third; }, [](E e) { return 87000 * e.third * e.width; }},
    {pixel_space, "pixel_space", facts(1, 1, 3, kBf16Only),
     [](E e) { return e.plane(); }, [](E e) { return e.plane(); }},
});
// clang-format on

const Row& row(VaeKind vae) { return kVaes[static_cast<std::size_t>(vae)]; }

double estimate(VaeKind vae, Figure figure, const Shape& shape, NumberFormat format,
                const DeviceProfile& primary) {
    const auto bytes = static_cast<double>(bytes_of(format).count());
    const bool is_kl = vae == kl || vae == kl_flux2;
    return figure(extent_of(shape)) * bytes * (is_kl && is_hip(primary) ? kAmdKlFactor : 1.0);
}

}  // namespace

std::string_view to_string(VaeKind vae) { return row(vae).name; }

std::optional<VaeKind> parse_vae_kind(std::string_view text) {
    const auto found = std::ranges::find(kVaes, text, &Row::name);
    return found == kVaes.end() ? std::nullopt : std::optional(found->kind);
}

VaeFacts facts_of(VaeKind vae) { return row(vae).facts; }

double encode_estimate(VaeKind vae, const Shape& pixels, NumberFormat format,
                       const DeviceProfile& primary) {
    return estimate(vae, row(vae).encode, pixels, format, primary);
}

double decode_estimate(VaeKind vae, const Shape& latent, NumberFormat format,
                       const DeviceProfile& primary) {
    return estimate(vae, row(vae).decode, latent, format, primary);
}

std::int64_t frames_of(VaeKind vae, std::int64_t latent_frames) {
    const auto ratio = row(vae).facts.temporal_ratio;
    return std::max<std::int64_t>(0, ratio * latent_frames - (ratio - 1));
}

std::int64_t latent_frames_of(VaeKind vae, std::int64_t frames) {
    const auto ratio = row(vae).facts.temporal_ratio;
    return std::max<std::int64_t>(0, (frames + ratio - 1) / ratio);
}

}  // namespace ballast::machine
