#pragma once
// The safetensors container: 8 bytes of header length (little-endian), a JSON header, tensor bytes.
//
// Format: https://github.com/huggingface/safetensors#format. Everything that the header says is
// compared with the size of the file before anything is allocated for it.

#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"

namespace ballast::formats {

/// Larger headers are refused, as by the reference library.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

/// Reads the header of `file`, which has at least eight bytes and was not recognised as a file of
/// another kind. Fails with `corrupt_file` or `io`.
Result<TensorDirectory> read_safetensors(const File& file, const OpenOptions& options);

/// The header text alone: `data_begin` is where tensor bytes begin in a file of `file_size` bytes.
/// The part of `read_safetensors` that does not touch a file.
Result<TensorDirectory> parse_safetensors_header(const std::filesystem::path& path,
                                                 std::string_view header, std::uint64_t data_begin,
                                                 std::uint64_t file_size,
                                                 const OpenOptions& options);

}  // namespace ballast::formats
