#pragma once
// Pictures and latents in another size, by the methods that ComfyUI's nodes offer.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace ballast::runtime::image {

enum class Method { nearest_exact, bilinear, area, bicubic, lanczos, bislerp };

/// "nearest-exact", "bilinear", "area", "bicubic", "lanczos", "bislerp".
std::optional<Method> parse_method(std::string_view name);

/// What happens when the aspects differ: distort, or cut the source symmetrically first.
enum class Crop { disabled, center };

/// "disabled", "center".
std::optional<Crop> parse_crop(std::string_view name);

struct Size {
    std::int64_t width = 0;
    std::int64_t height = 0;

    bool operator==(const Size&) const = default;
};

/// The size that a node means: both zero is the source's own, one zero follows the source's aspect
/// (rounded, half to even); otherwise every side is at least `least` (1 for pictures, 64 for
/// latents, whose sizes are given in pixels).
Size intended_size(Size wanted, Size source, std::int64_t least);

/// `samples` [N, C, H, W] in fp32 at the new size; another type comes back as it came. lanczos goes
/// through 8 bits per channel and is meant for pictures (0..1); bislerp turns the vectors of
/// channels on the sphere between neighbours and is meant for latents. Throws `Failure`
/// (`bad_value`) for a size without pixels or of more than 2^31 of them, and for tensors that do
/// not have four axes.
at::Tensor resample(const at::Tensor& samples, Size size, Method method, Crop crop);

}  // namespace ballast::runtime::image
