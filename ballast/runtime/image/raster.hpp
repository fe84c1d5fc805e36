#pragma once
// A picture in 8 bits per channel: what files hold, before and after tensors.

#include <cstddef>
#include <cstdint>

#include "ballast/runtime/tensor/accounted.hpp"

namespace ballast::runtime::image {

/// Rows from the top, pixels from the left, `channels` bytes each: 3 (RGB) or 4 (RGB and alpha).
struct Raster {
    std::size_t width = 0;
    std::size_t height = 0;
    std::size_t channels = 3;
    AccountedVector<std::uint8_t> bytes = {};

    [[nodiscard]] std::size_t row_bytes() const { return width * channels; }
    [[nodiscard]] const std::uint8_t* row(std::size_t y) const {
        return bytes.data() + y * row_bytes();
    }
    [[nodiscard]] std::uint8_t* row(std::size_t y) { return bytes.data() + y * row_bytes(); }
};

/// Larger pictures are refused, as the reference's library does: decoding them takes gigabytes.
inline constexpr std::uint64_t kMostPixels = 178'956'970;

}  // namespace ballast::runtime::image
