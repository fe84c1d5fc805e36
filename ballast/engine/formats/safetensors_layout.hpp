#pragma once
// Where the tensors of a safetensors file lie: every byte behind the header belongs to exactly one.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ballast/engine/formats/safetensors_header.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"

namespace ballast::formats {

/// A header and the file that it describes.
struct LayoutRequest {
    const std::filesystem::path& path;
    const std::deque<DescribedTensor>& tensors;
    std::uint64_t data_begin;  ///< bytes of the file before the tensors' bytes
    std::uint64_t file_size;   ///< at least `data_begin`
    OpenOptions options;
};

struct Layout {
    std::vector<std::uint32_t> order;  ///< indices of `tensors` by offset, empty ones first
    std::vector<std::string> warnings;
};

/// Orders the tensors and checks that none overlap, none lie beyond the file, and nothing lies
/// between or behind them (as far as the options ask). A tensor without bytes overlaps nothing.
/// Fails with `corrupt_file`.
Result<Layout> lay_out(const LayoutRequest& request);

}  // namespace ballast::formats
