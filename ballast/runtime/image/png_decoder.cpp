#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csetjmp>
#include <cstring>

#include "ballast/runtime/image/decoders.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime::image {

namespace {

[[noreturn]] void refuse(Code code, std::string why) {
    throw Failure({.code = code, .what = "cannot read the PNG picture", .why = std::move(why)});
}

/// What the library's callbacks see: the bytes still to be read, and the reason of a failure.
struct Source {
    std::span<const std::byte> rest;
    std::array<char, 128> reason{};
};

extern "C" {

static void take_bytes(png_structp png, png_bytep out, std::size_t count) {
    auto* source = static_cast<Source*>(png_get_io_ptr(png));
    if (count > source->rest.size()) png_error(png, "the file ends too early");
    std::memcpy(out, source->rest.data(), count);
    source->rest = source->rest.subspan(count);
}

[[noreturn]] static void keep_reason(png_structp png, png_const_charp reason) {
    auto* source = static_cast<Source*>(png_get_error_ptr(png));
    std::strncpy(source->reason.data(), reason, source->reason.size() - 1);
    png_longjmp(png, 1);
}

static void ignore_warning(png_structp, png_const_charp) {}

}  // extern "C"

/// The library's two structures, freed together.
class Reader {
public:
    explicit Reader(std::span<const std::byte> file) : source_{file, {}} {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source_, keep_reason, ignore_warning);
        info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
        if (info_ == nullptr) {
            png_destroy_read_struct(&png_, &info_, nullptr);
            throw std::bad_alloc();
        }
        png_set_read_fn(png_, &source_, take_bytes);
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }

    [[nodiscard]] png_structp png() const { return png_; }
    [[nodiscard]] png_infop info() const { return info_; }

    /// Runs calls into the library. A failure there jumps back to here, past everything that `work`
    /// was doing: it must own nothing.
    template <typename F>
    void call(const F& work) {
        if (setjmp(png_jmpbuf(png_)) != 0)
            refuse(Code::corrupt_file, escaped(source_.reason.data()));
        work();
    }

private:
    Source source_;
    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
};

struct Header {
    png_uint_32 width = 0;
    png_uint_32 height = 0;
    int depth = 0;
    int colour = 0;

    [[nodiscard]] bool is_deep_grey() const { return colour == PNG_COLOR_TYPE_GRAY && depth == 16; }
};

/// Reads everything before the pixels and refuses what would be too large.
Header read_header(Reader& reader, std::size_t file_size) {
    constexpr png_uint_32 kLongestSide = 1'000'000;
    Header header;
    reader.call([&] {
        png_set_user_limits(reader.png(), kLongestSide, kLongestSide);
        png_read_info(reader.png(), reader.info());
        png_get_IHDR(reader.png(), reader.info(), &header.width, &header.height, &header.depth,
                     &header.colour, nullptr, nullptr, nullptr);
    });
    const auto pixels = std::uint64_t{header.width} * header.height;
    if (pixels > kMostPixels)
        refuse(Code::unsupported, fmt::format("{} x {} pixels are more than {}", header.width,
                                              header.height, kMostPixels));
    // deflate makes at most 1032 bytes of one; do not get memory for pixels that cannot be there
    constexpr std::uint64_t kMostPixelsPerByte = std::uint64_t{8} * 1032;
    if (pixels / kMostPixelsPerByte > file_size)
        refuse(Code::corrupt_file, fmt::format("a file of {} bytes cannot hold {} x {} pixels",
                                               file_size, header.width, header.height));
    return header;
}

/// Asks for 8-bit RGB, with alpha where pixels or the palette have it; 16-bit grey stays.
void choose_form(Reader& reader, const Header& header) {
    reader.call([&] {
        if (header.is_deep_grey()) {
            if constexpr (std::endian::native == std::endian::little) png_set_swap(reader.png());
        } else {
            png_set_strip_16(reader.png());
            if (header.colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reader.png());
            if (header.colour == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(reader.png());
            png_set_gray_to_rgb(reader.png());
        }
        png_set_interlace_handling(reader.png());
        png_read_update_info(reader.png(), reader.info());
    });
}

void read_pixels(Reader& reader, AccountedVector<std::uint8_t>& bytes, std::size_t height) {
    const auto row_bytes = png_get_rowbytes(reader.png(), reader.info());
    bytes.resize(row_bytes * height);
    std::vector<png_bytep> rows(height);
    for (std::size_t y = 0; y < height; ++y) rows[y] = bytes.data() + y * row_bytes;
    reader.call([&] {
        png_read_image(reader.png(), rows.data());
        png_read_end(reader.png(), reader.info());
    });
}

Raster from_deep_grey(const AccountedVector<std::uint8_t>& bytes, const Header& header) {
    Raster raster{.width = header.width, .height = header.height};
    raster.bytes.reserve(raster.width * raster.height * 3);
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
        std::uint16_t value = 0;
        std::memcpy(&value, bytes.data() + i, sizeof value);
        raster.bytes.insert(raster.bytes.end(), 3,
                            static_cast<std::uint8_t>(std::min(value / 255, 255)));
    }
    return raster;
}

Orientation orientation_of(Reader& reader) {
    Orientation orientation = Orientation::top_left;
    reader.call([&] {
        png_uint_32 size = 0;
        png_bytep exif = nullptr;
        if (png_get_eXIf_1(reader.png(), reader.info(), &size, &exif) != 0)
            orientation = exif_orientation({reinterpret_cast<const std::byte*>(exif), size});
    });
    return orientation;
}

}  // namespace

DecodedPicture decode_png(std::span<const std::byte> file) {
    Reader reader(file);
    const auto header = read_header(reader, file.size());
    choose_form(reader, header);
    Raster raster{.width = header.width,
                  .height = header.height,
                  .channels = png_get_channels(reader.png(), reader.info())};
    // grey of 16 bits is held twice: as read, and as three channels
    const std::size_t held = header.is_deep_grey() ? 2 + 3 : raster.channels;
    require_room(raster.width, raster.height, raster.channels,
                 Bytes{(held - raster.channels) * raster.width * raster.height});
    read_pixels(reader, raster.bytes, raster.height);
    if (header.is_deep_grey()) raster = from_deep_grey(raster.bytes, header);
    return {std::move(raster), orientation_of(reader)};
}

}  // namespace ballast::runtime::image
