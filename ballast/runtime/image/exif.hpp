#pragma once
// Which way up a photograph is.

#include <cstddef>
#include <span>

namespace ballast::runtime::image {

/// The Exif standard's orientation, 1 to 8: where the stored first row and first column belong.
enum class Orientation {
    top_left = 1,
    top_right,
    bottom_right,
    bottom_left,
    left_top,
    right_top,
    right_bottom,
    left_bottom,
};

/// Reads the orientation out of an Exif block (a TIFF header and its first directory, without the
/// "Exif" mark before it). Anything that cannot be understood means `top_left`, as it is stored.
Orientation exif_orientation(std::span<const std::byte> tiff);

}  // namespace ballast::runtime::image
