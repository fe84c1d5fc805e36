#pragma once
// The safetensors container: 8 bytes of header length (little-endian), a JSON header, tensor bytes.
//
// Format: https://github.com/huggingface/safetensors#format. Everything that the header says is
// compared with the size of the file before anything is allocated for it.

#include <filesystem>

#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"

namespace ballast::formats {

/// Larger headers are refused, as by the reference library.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

/// True if a file that begins with `head` (nine bytes or more) can hardly be anything else: the
/// length is allowed and the header begins as it must. Other formats' signatures may also be read
/// as lengths, so this is asked before they are compared.
bool looks_like_safetensors(std::string_view head);

/// Reads the header of `file`, which was not recognised as a file of another kind. Fails with
/// `corrupt_file` or `io`.
Result<TensorDirectory> read_safetensors(const File& file, const OpenOptions& options);

/// What `read_safetensors` makes of the header text `header` in a file of `file_size` bytes; the
/// part of it that does not touch a file.
Result<TensorDirectory> interpret_safetensors(const std::filesystem::path& path,
                                              std::string_view header, Bytes file_size,
                                              const OpenOptions& options);

}  // namespace ballast::formats
