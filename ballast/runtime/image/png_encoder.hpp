#pragma once
// Pictures as PNG files.
//
// Written out by hand rather than by the PNG library: that one shrinks the compression window of
// small pictures and so changes the stream's first bytes, which the reference never does.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/runtime/image/raster.hpp"

namespace ballast::runtime::image {

/// A text that a picture carries, Latin-1.
struct PngText {
    std::string keyword;
    std::string text;
};

/// `name`, which is UTF-8, as the keyword of a text; nothing if the format cannot hold it: it takes
/// 1 to 79 characters of Latin-1, none of them zero.
std::optional<std::string> png_keyword(std::string_view name);

/// The bytes of an 8-bit RGB (or RGBA) file: IHDR, one tEXt chunk per entry of `texts` in their
/// order, IDAT, IEND. `compression` is zlib's level, 0..9. Throws `Failure` (`bad_value`) for
/// a picture without pixels and for a keyword that is no keyword (1 to 79 characters), and
/// `unsupported` for sides or texts beyond the format's 2^31 - 1.
std::string encode_png(const Raster& raster, int compression, const std::vector<PngText>& texts);

}  // namespace ballast::runtime::image
