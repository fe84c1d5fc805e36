#pragma once
// From the bytes of picture files to pixels, one decoder per format.
//
// Both throw `Failure`: `corrupt_file` with the library's reason when the file is damaged or cut
// off, `unsupported` when it is larger than `kMostPixels`, `does_not_fit` when the memory limit is
// too low for it. Nothing is decoded then. Colour profiles and gamma are ignored,
// as in the reference.

#include <span>

#include "ballast/runtime/image/exif.hpp"
#include "ballast/runtime/image/raster.hpp"

namespace ballast::runtime::image {

struct DecodedPicture {
    Raster raster;
    Orientation orientation = Orientation::top_left;
};

/// Refuses a picture that the memory limit cannot hold by its header alone: the pixels as decoded,
/// the tensors made of them, and `more` for the decoder. Throws `Failure` (`does_not_fit`).
void require_room(std::size_t width, std::size_t height, std::size_t channels, Bytes more = {});

/// PNG of every colour type, depth and interlacing; of an animation the first picture. Of 16 bits
/// the upper eight are kept; plain grey of 16 bits is divided by 255 and limited instead, as the
/// reference does. Transparency counts where pixels carry alpha, and in palettes.
DecodedPicture decode_png(std::span<const std::byte> file);

/// JPEG in grey, colour or CMYK (Adobe's inverted kind), baseline or progressive.
DecodedPicture decode_jpeg(std::span<const std::byte> file);

}  // namespace ballast::runtime::image
