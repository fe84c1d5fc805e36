#include "ballast/runtime/sampling/conditioning/weight_map.hpp"

#include <algorithm>

#include "ballast/runtime/tensor/arithmetic.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::sampling {

namespace {

constexpr std::int64_t kFadeCells = 8;
constexpr std::int64_t kHeightAxis = 2;
constexpr std::int64_t kWidthAxis = 3;

struct Span {
    std::int64_t from;
    std::int64_t length;
};

/// Fades `map` out along `axis` toward the ends of `span` that are not ends of the latent.
void fade(at::Tensor& map, std::int64_t axis, Span span, std::int64_t latent_length) {
    const std::int64_t cells = std::min(kFadeCells, span.length / 4);
    for (std::int64_t i = 0; i < cells; ++i) {
        const auto factor =
            static_cast<float>(1.0 / static_cast<double>(cells) * static_cast<double>(i + 1));
        if (span.from != 0) map.narrow(axis, i, 1).mul_(factor);
        if (span.from + span.length < latent_length)
            map.narrow(axis, span.length - 1 - i, 1).mul_(factor);
    }
}

}  // namespace

Area clipped(const Area& area, std::int64_t height, std::int64_t width) {
    return {.height = std::min(height - area.y, area.height),
            .width = std::min(width - area.x, area.width),
            .y = area.y,
            .x = area.x};
}

at::Tensor inside(const at::Tensor& x, const std::optional<Area>& area) {
    if (!area) return x;
    return x.narrow(kHeightAxis, area->y, area->height).narrow(kWidthAxis, area->x, area->width);
}

at::Tensor weight_map(const PreparedEntry& entry, const std::optional<Area>& area,
                      at::IntArrayRef latent_shape) {
    const std::int64_t height = latent_shape[kHeightAxis];
    const std::int64_t width = latent_shape[kWidthAxis];
    if (entry.mask.defined())
        return inside(entry.mask, area) * entry.mask_strength * entry.strength;
    const Area whole{.height = height, .width = width};
    const Area part = area.value_or(whole);
    at::Tensor map = ops::full({1, 1, part.height, part.width}, entry.strength, at::kFloat);
    fade(map, kHeightAxis, {part.y, part.height}, height);
    fade(map, kWidthAxis, {part.x, part.width}, width);
    return map;
}

}  // namespace ballast::runtime::sampling
