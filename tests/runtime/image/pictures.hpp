#pragma once
// Pictures for tests: small ones made by hand, and files read whole.

#include <fstream>
#include <span>
#include <sstream>
#include <string>

#include "ballast/runtime/image/raster.hpp"

namespace ballast::runtime::image {

inline std::string file_content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return std::move(bytes).str();
}

/// A file below tests/golden.
inline std::string golden(const std::string& name) {
    return file_content(BALLAST_TEST_DATA "/golden/" + name);
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

/// A picture without two equal neighbours; the same in every run.
inline Raster pattern(std::size_t width, std::size_t height, std::size_t channels = 3) {
    Raster raster;
    raster.width = width;
    raster.height = height;
    raster.channels = channels;
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < width * height * channels; ++i) {
        state = state * 1664525U + 1013904223U;
        raster.bytes.push_back(static_cast<std::uint8_t>(state >> 24U));
    }
    return raster;
}

}  // namespace ballast::runtime::image
