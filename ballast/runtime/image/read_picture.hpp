#pragma once
// Picture files as tensors: what the image loading node needs.

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <span>

#include "ballast/engine/core/result.hpp"

namespace ballast::runtime::image {

struct Picture {
    at::Tensor image;  ///< [1, H, W, 3] fp32, 0..1
    at::Tensor mask;   ///< [1, H, W] fp32, 1 - alpha; [1, 64, 64] zeros for pictures without alpha
};

/// Reads a PNG or JPEG file, recognised by its content, the right way up. Fails with `not_found`,
/// `io`, `corrupt_file`, `unsupported` (too large, or a picture format that is not read: the hint
/// names those that are) or `foreign_file` (no picture at all).
Result<Picture> read_picture(const std::filesystem::path& path);

/// The same from the bytes of a file. Throws `Failure`.
Picture decode_picture(std::span<const std::byte> file);

}  // namespace ballast::runtime::image
