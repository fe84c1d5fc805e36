// Whatever the bytes, decoding a picture ends in pixels or in a failure.
// Seeds: tests/golden/images/*.png tests/golden/images/*.jpg

#include <cstdint>
#include <cstdlib>
#include <span>

#include "ballast/runtime/image/decoders.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace image = ballast::runtime::image;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = std::as_bytes(std::span(data, size));
    for (const auto decode : {image::decode_png, image::decode_jpeg}) {
        try {
            const auto picture = decode(file);
            const auto& raster = picture.raster;
            if (raster.bytes.size() != raster.height * raster.row_bytes()) std::abort();
        } catch (const ballast::runtime::Failure& failure) {
            if (failure.error().why.empty()) std::abort();
        }
    }
    return 0;
}
