#include <fmt/format.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <jpeglib.h>  // needs <cstdio> before it

#include <jerror.h>

#include "ballast/runtime/image/decoders.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime::image {

namespace {

[[noreturn]] void refuse(Code code, std::string why) {
    throw Failure({.code = code, .what = "cannot read the JPEG picture", .why = std::move(why)});
}

/// The library's error manager with where to return to.
struct ErrorManager {
    jpeg_error_mgr base{};
    std::jmp_buf back{};
    std::array<char, JMSG_LENGTH_MAX> reason{};
};

/// A progressive file can go over the picture any number of times; real ones do so ten times.
constexpr int kMostScans = 500;

extern "C" {

[[noreturn]] static void leave(j_common_ptr info) {
    auto* manager = reinterpret_cast<ErrorManager*>(info->err);
    info->err->format_message(info, manager->reason.data());
    std::longjmp(manager->back, 1);
}

static void ignore_output(j_common_ptr) {}

/// Most warnings are about harmless oddities; a file that ends too early is none.
static void judge_warning(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) leave(info);
}

static void count_scans(j_common_ptr info) {
    auto* manager = reinterpret_cast<ErrorManager*>(info->err);
    if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
    std::snprintf(manager->reason.data(), manager->reason.size(), "more than %d scans", kMostScans);
    std::longjmp(manager->back, 1);
}

}  // extern "C"

class Reader {
public:
    Reader() {
        info_.err = jpeg_std_error(&errors_.base);
        errors_.base.error_exit = leave;
        errors_.base.output_message = ignore_output;
        errors_.base.emit_message = judge_warning;
        progress_.progress_monitor = count_scans;
        call([this] {
            jpeg_create_decompress(&info_);
            info_.progress = &progress_;
        });
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() { jpeg_destroy_decompress(&info_); }

    [[nodiscard]] jpeg_decompress_struct& info() { return info_; }

    /// Runs calls into the library. A failure there jumps back to here, past everything that `work`
    /// was doing: it must own nothing.
    template <typename F>
    void call(const F& work) {
        if (setjmp(errors_.back) != 0) refuse(Code::corrupt_file, escaped(errors_.reason.data()));
        work();
    }

private:
    ErrorManager errors_;
    jpeg_progress_mgr progress_{};
    jpeg_decompress_struct info_{};
};

constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr std::string_view kExifMark("Exif\0\0", 6);

Orientation orientation_of(const jpeg_decompress_struct& info) {
    for (const auto* marker = info.marker_list; marker != nullptr; marker = marker->next) {
        const std::span data(reinterpret_cast<const std::byte*>(marker->data), marker->data_length);
        if (marker->marker == kExifMarker && data.size() > kExifMark.size() &&
            std::memcmp(data.data(), kExifMark.data(), kExifMark.size()) == 0)
            return exif_orientation(data.subspan(kExifMark.size()));
    }
    return Orientation::top_left;
}

/// a * b / 255, rounded.
int scaled(int a, int b) {
    const int product = a * b + 128;
    return ((product >> 8) + product) >> 8;
}

/// From ink that is stored inverted to light.
Raster from_cmyk(const Raster& cmyk) {
    Raster rgb{.width = cmyk.width, .height = cmyk.height};
    rgb.bytes.reserve(rgb.width * rgb.height * 3);
    for (std::size_t i = 0; i < cmyk.bytes.size(); i += 4)
        for (std::size_t c = 0; c < 3; ++c) {
            const int light = cmyk.bytes[i + 3];
            rgb.bytes.push_back(
                static_cast<std::uint8_t>(light - scaled(255 - cmyk.bytes[i + c], light)));
        }
    return rgb;
}

/// What the library holds of a picture that comes in several scans: all its coefficients, of two
/// bytes each.
Bytes coefficients_of(jpeg_decompress_struct& info) {
    if (jpeg_has_multiple_scans(&info) == FALSE) return {};
    std::uint64_t samples = 0;
    for (int i = 0; i < info.num_components; ++i) {
        const auto& part = info.comp_info[i];
        samples += std::uint64_t{part.width_in_blocks} * part.height_in_blocks * DCTSIZE2;
    }
    return Bytes{samples * sizeof(JCOEF)};
}

/// Charged for what the library gets by itself; never touched, so that it takes no real memory.
class HeldMemory {
public:
    explicit HeldMemory(Bytes size)
        : data_(size.is_zero() ? nullptr : take_host_memory(size.count())) {}
    HeldMemory(const HeldMemory&) = delete;
    HeldMemory& operator=(const HeldMemory&) = delete;
    ~HeldMemory() { give_host_memory_back(data_); }

private:
    void* data_;
};

}  // namespace

DecodedPicture decode_jpeg(std::span<const std::byte> file) {
    Reader reader;
    auto& info = reader.info();
    reader.call([&info, file] {
        jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
        constexpr unsigned kWholeMarker = 0xFFFF;
        jpeg_save_markers(&info, kExifMarker, kWholeMarker);
        jpeg_read_header(&info, TRUE);
        const bool is_ink = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
        info.out_color_space = is_ink ? JCS_CMYK : JCS_RGB;
    });
    if (std::uint64_t{info.image_width} * info.image_height > kMostPixels)
        refuse(Code::unsupported, fmt::format("{} x {} pixels are more than {}", info.image_width,
                                              info.image_height, kMostPixels));
    const auto orientation = orientation_of(info);
    const auto channels = info.out_color_space == JCS_CMYK ? std::size_t{4} : std::size_t{3};
    const auto for_decoder = coefficients_of(info);
    require_room(info.image_width, info.image_height, channels, for_decoder);
    const HeldMemory held(for_decoder);
    reader.call([&info] { jpeg_start_decompress(&info); });
    Raster raster{.width = info.output_width,
                  .height = info.output_height,
                  .channels = static_cast<std::size_t>(info.output_components)};
    raster.bytes.resize(raster.height * raster.row_bytes());
    reader.call([&] {
        while (info.output_scanline < info.output_height) {
            JSAMPROW row = raster.row(info.output_scanline);
            jpeg_read_scanlines(&info, &row, 1);
        }
        jpeg_finish_decompress(&info);
    });
    if (info.out_color_space == JCS_CMYK) raster = from_cmyk(raster);
    return {std::move(raster), orientation};
}

}  // namespace ballast::runtime::image
