#include "ballast/graph/png_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace ballast::graph {

namespace {

constexpr std::string_view kSignature("\x89PNG\r\n\x1A\n", 8);
constexpr std::size_t kFrame = 12;  // length, type and check sum around a chunk's data

constexpr std::array<std::uint32_t, 256> kChecksums = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1U) != 0 ? 0xEDB88320U ^ (value >> 1U) : value >> 1U;
        table[i] = value;
    }
    return table;
}();

std::uint32_t big_endian(std::string_view bytes) {
    std::uint32_t value = 0;
    for (const char c : bytes.substr(0, 4)) value = (value << 8U) | static_cast<unsigned char>(c);
    return value;
}

tl::unexpected<Error> refusal(Code code, std::string why, std::size_t offset) {
    Error error;
    error.code = code;
    error.what = "cannot read the PNG file";
    error.why = std::move(why);
    error.place.offset = offset;
    return fail(std::move(error));
}

}  // namespace

std::uint32_t png_checksum(std::string_view bytes, std::uint32_t previous) {
    std::uint32_t value = ~previous;
    for (const char c : bytes)
        value = kChecksums[(value ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (value >> 8U);
    return ~value;
}

bool is_png(std::string_view file) { return file.starts_with(kSignature); }

Result<std::vector<PngText>> png_texts(std::string_view file) {
    if (!is_png(file)) return refusal(Code::foreign_file, "it does not begin like one", 0);
    std::vector<PngText> texts;
    for (std::size_t at = kSignature.size();;) {
        const auto rest = file.substr(at);
        if (rest.size() < kFrame)
            return refusal(Code::corrupt_file, "it ends before its end chunk", at);
        const std::size_t length = big_endian(rest);
        const auto type = rest.substr(4, 4);
        if (length > rest.size() - kFrame)
            return refusal(Code::corrupt_file,
                           fmt::format("chunk {} of {} bytes reaches beyond the end of the file",
                                       escaped(type), length),
                           at);
        if (type == "IEND") return texts;
        if (type == "tEXt") {
            const auto data = rest.substr(8, length);
            if (png_checksum(rest.substr(4, length + 4)) != big_endian(rest.substr(length + 8)))
                return refusal(Code::corrupt_file, "a text chunk has the wrong check sum", at);
            const auto end = data.find('\0');
            if (end == std::string_view::npos)
                return refusal(Code::corrupt_file, "a text chunk has no keyword", at);
            texts.push_back({std::string(data.substr(0, end)), std::string(data.substr(end + 1))});
        }
        at += length + kFrame;
    }
}

}  // namespace ballast::graph
