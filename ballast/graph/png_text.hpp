#pragma once
// The text chunks of a PNG file, where pictures carry the workflow that made them.
//
// Looks at the chunks alone: no picture is decoded, and no picture library is needed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/result.hpp"

namespace ballast::graph {

/// One tEXt chunk. The text is Latin-1 by the format; ours and ComfyUI's hold ASCII only.
struct PngText {
    std::string keyword;
    std::string text;

    bool operator==(const PngText&) const = default;
};

/// True if `file` begins as a PNG file does.
bool is_png(std::string_view file);

/// All tEXt chunks of a PNG file, in the order of the file. Chunks of any other kind are passed
/// over, compressed and international text among them: neither we nor ComfyUI write those.
/// Fails with `foreign_file` when this is no PNG, with `corrupt_file` when a chunk reaches beyond
/// the end, a text's check sum is wrong, or the end chunk is missing; the error tells the offset.
Result<std::vector<PngText>> png_texts(std::string_view file);

/// CRC-32 of PNG chunks (ISO 3309): of `bytes` behind those that gave `previous`.
std::uint32_t png_checksum(std::string_view bytes, std::uint32_t previous = 0);

}  // namespace ballast::graph
