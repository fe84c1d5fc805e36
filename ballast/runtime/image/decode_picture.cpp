#include <fmt/format.h>

#include <array>
#include <string_view>

#include "ballast/runtime/image/decoders.hpp"
#include "ballast/runtime/image/pixels.hpp"
#include "ballast/runtime/image/read_picture.hpp"
#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::image {

namespace {

/// A format that is recognised but not read.
struct OtherFormat {
    std::string_view name;
    std::size_t offset;
    std::string_view mark;
};

constexpr std::array<OtherFormat, 9> kOthers{{{"WebP", 8, "WEBP"},
                                              {"GIF", 0, "GIF8"},
                                              {"BMP", 0, "BM"},
                                              {"TIFF", 0, "II*"},
                                              {"TIFF", 0, "MM"},
                                              {"AVIF", 8, "avif"},
                                              {"HEIC", 8, "heic"},
                                              {"JPEG XL", 0, "\xFF\x0A"},
                                              {"SVG", 0, "<svg"}}};

[[noreturn]] void refuse(std::string_view file) {
    Error error;
    error.code = Code::foreign_file;
    error.what = "cannot read the picture";
    error.why = "it is no picture";
    error.hint = "use a PNG or JPEG file";
    for (const auto& other : kOthers) {
        if (file.size() < other.offset || !file.substr(other.offset).starts_with(other.mark))
            continue;
        error.code = Code::unsupported;
        error.why = "it is a " + std::string(other.name) + " picture; only PNG and JPEG are read";
        error.hint = "save it as PNG and use that";
        break;
    }
    throw Failure(std::move(error));
}

DecodedPicture decode(std::span<const std::byte> file) {
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    if (text.starts_with("\x89PNG\r\n\x1A\n")) return decode_png(file);
    if (text.starts_with("\xFF\xD8\xFF")) return decode_jpeg(file);
    refuse(text);
}

/// Puts rows (axis 1) and columns (axis 2) of [1, H, W, ...] where they belong.
at::Tensor upright(const at::Tensor& stored, Orientation orientation) {
    constexpr std::int64_t kRows = 1;
    constexpr std::int64_t kColumns = 2;
    const auto turned = [&] { return stored.transpose(kRows, kColumns); };
    switch (orientation) {
        case Orientation::top_left: return stored;
        case Orientation::top_right: return ops::flip(stored, {kColumns});
        case Orientation::bottom_right: return ops::flip(stored, {kRows, kColumns});
        case Orientation::bottom_left: return ops::flip(stored, {kRows});
        case Orientation::left_top: return turned().contiguous();
        case Orientation::right_top: return ops::flip(turned(), {kColumns}).contiguous();
        case Orientation::right_bottom: return ops::flip(turned(), {kRows, kColumns}).contiguous();
        case Orientation::left_bottom: return ops::flip(turned(), {kRows}).contiguous();
    }
    return stored;
}

}  // namespace

Picture decode_picture(std::span<const std::byte> file) {
    const auto decoded = decode(file);
    const bool has_alpha = decoded.raster.channels == 4;
    const auto mask = mask_of(decoded.raster);
    return {upright(image_of(decoded.raster), decoded.orientation),
            has_alpha ? upright(mask, decoded.orientation) : mask};
}

}  // namespace ballast::runtime::image
