#include "ballast/runtime/image/png_encoder.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include "ballast/engine/core/utf8.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime::image {

namespace {

constexpr std::uint64_t kLongest = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kDataChunk = 1U << 20U;

[[noreturn]] void refuse(Code code, std::string why) {
    throw Failure({.code = code, .what = "cannot make a PNG file", .why = std::move(why)});
}

void append_number(std::string& out, std::uint32_t value) {
    for (unsigned shift = 32; shift > 0;) {
        shift -= 8;
        out += static_cast<char>((value >> shift) & 0xFFU);
    }
}

void append_chunk(std::string& file, std::string_view type, std::string_view data) {
    append_number(file, static_cast<std::uint32_t>(data.size()));
    const auto begin = file.size();
    file += type;
    file += data;
    const auto* summed = reinterpret_cast<const Bytef*>(file.data() + begin);
    append_number(file, static_cast<std::uint32_t>(crc32_z(0, summed, file.size() - begin)));
}

std::string header_of(const Raster& raster) {
    std::string data;
    append_number(data, static_cast<std::uint32_t>(raster.width));
    append_number(data, static_cast<std::uint32_t>(raster.height));
    constexpr char kBitDepth = 8;
    data += kBitDepth;
    constexpr char kColour = 2;
    constexpr char kColourAndAlpha = 6;
    data += raster.channels == 4 ? kColourAndAlpha : kColour;
    data.append(3, '\0');  // compression, filter and interlace methods: the only, the only, none
    return data;
}

/// Neighbours of a byte that a filter predicts it from: left, above, and left of above.
struct Neighbours {
    int left, above, corner;
};

int paeth(const Neighbours& n) {
    const int to_left = std::abs(n.above - n.corner);
    const int to_above = std::abs(n.left - n.corner);
    const int to_corner = std::abs(n.left + n.above - 2 * n.corner);
    if (to_left <= to_above && to_left <= to_corner) return n.left;
    return to_above <= to_corner ? n.above : n.corner;
}

/// Writes the filtered row behind its filter's number and returns how far its bytes are from zero.
template <typename Predict>
std::uint64_t filter_row(const std::uint8_t* row, const std::uint8_t* above, std::size_t size,
                         std::size_t pixel, const Predict& predict, std::uint8_t* out) {
    std::uint64_t distance = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const Neighbours n{i < pixel ? 0 : row[i - pixel], above[i],
                           i < pixel ? 0 : above[i - pixel]};
        const auto rest = static_cast<std::uint8_t>(row[i] - predict(n));
        out[i] = rest;
        distance += rest < 128 ? rest : 256U - rest;
    }
    return distance;
}

/// Picks per row the filter whose result is nearest to zero: the format's own advice.
class Filter {
public:
    explicit Filter(const Raster& raster) : raster_(raster), above_(raster.row_bytes()) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            rows_[i].resize(raster.row_bytes() + 1);
            rows_[i][0] = static_cast<std::uint8_t>(i);
        }
    }

    /// The filter's number and the row after it. Valid until the next call; rows in order.
    const std::vector<std::uint8_t>& operator()(std::size_t y) {
        const auto size = raster_.row_bytes();
        const auto* row = raster_.row(y);
        const auto* above = y == 0 ? above_.data() : raster_.row(y - 1);
        const auto apply = [&](std::size_t i, const auto& predict) {
            return filter_row(row, above, size, raster_.channels, predict, rows_[i].data() + 1);
        };
        const std::array<std::uint64_t, 5> distances{
            apply(0, [](const Neighbours&) { return 0; }),
            apply(1, [](const Neighbours& n) { return n.left; }),
            apply(2, [](const Neighbours& n) { return n.above; }),
            apply(3, [](const Neighbours& n) { return (n.left + n.above) / 2; }), apply(4, paeth)};
        const auto best = std::min_element(distances.begin(), distances.end()) - distances.begin();
        return rows_[static_cast<std::size_t>(best)];
    }

private:
    const Raster& raster_;
    std::vector<std::uint8_t> above_;  ///< zeros, above the first row
    std::array<std::vector<std::uint8_t>, 5> rows_;
};

/// zlib's stream of everything that was put in.
class Deflater {
public:
    explicit Deflater(int level) {
        if (deflateInit(&stream_, level) != Z_OK)
            refuse(Code::bad_value, fmt::format("zlib knows no compression level {}", level));
    }
    Deflater(const Deflater&) = delete;
    Deflater& operator=(const Deflater&) = delete;
    ~Deflater() { deflateEnd(&stream_); }

    void put(const std::vector<std::uint8_t>& bytes) { run(bytes, Z_NO_FLUSH); }
    std::string finish() {
        run({}, Z_FINISH);
        return std::move(packed_);
    }

private:
    void run(const std::vector<std::uint8_t>& bytes, int flush) {
        stream_.next_in = const_cast<Bytef*>(bytes.data());  // zlib only reads it
        stream_.avail_in = static_cast<uInt>(bytes.size());
        do {
            stream_.next_out = buffer_.data();
            stream_.avail_out = static_cast<uInt>(buffer_.size());
            deflate(&stream_, flush);
            packed_.append(reinterpret_cast<const char*>(buffer_.data()),
                           buffer_.size() - stream_.avail_out);
        } while (stream_.avail_out == 0);
    }

    z_stream stream_{};
    std::array<Bytef, 1U << 15U> buffer_{};
    std::string packed_;
};

bool is_keyword(std::string_view text) {
    constexpr std::size_t kLongestKeyword = 79;
    return !text.empty() && text.size() <= kLongestKeyword &&
           text.find('\0') == std::string_view::npos;
}

std::string text_chunk(const PngText& text) {
    if (!is_keyword(text.keyword))
        refuse(Code::bad_value, fmt::format("'{}' is no keyword for a text: it takes 1 to 79 "
                                            "characters",
                                            escaped(text.keyword)));
    if (text.text.size() > kLongest - 80) refuse(Code::unsupported, "a text is larger than 2 GiB");
    return text.keyword + '\0' + text.text;
}

}  // namespace

std::optional<std::string> png_keyword(std::string_view name) {
    std::string keyword;
    for (std::size_t at = 0; at < name.size();) {
        const auto length = utf8_length(name, at);
        const auto first = static_cast<unsigned char>(name[at]);
        // U+0080 to U+00FF begin with 0xC2 or 0xC3, whose last bit is the seventh of the character
        if (length == 0 || length > 2 || (length == 2 && first > 0xC3U)) return std::nullopt;
        const auto last = static_cast<unsigned char>(name[at + length - 1]);
        keyword += static_cast<char>(length == 1 ? last : last | ((first & 1U) << 6U));
        at += length;
    }
    if (!is_keyword(keyword)) return std::nullopt;
    return keyword;
}

std::string encode_png(const Raster& raster, int compression, const std::vector<PngText>& texts) {
    if (raster.width == 0 || raster.height == 0)
        refuse(Code::bad_value, "the picture has no pixels");
    if (raster.width > kLongest / 8 || raster.height > kLongest)
        refuse(Code::unsupported, "the picture is larger than the format allows");
    std::string file("\x89PNG\r\n\x1A\n", 8);
    append_chunk(file, "IHDR", header_of(raster));
    for (const auto& text : texts) append_chunk(file, "tEXt", text_chunk(text));
    Deflater deflater(compression);
    Filter filter(raster);
    for (std::size_t y = 0; y < raster.height; ++y) deflater.put(filter(y));
    const auto packed = deflater.finish();
    for (std::size_t at = 0; at < packed.size(); at += kDataChunk)
        append_chunk(file, "IDAT", std::string_view(packed).substr(at, kDataChunk));
    append_chunk(file, "IEND", {});
    return file;
}

}  // namespace ballast::runtime::image
