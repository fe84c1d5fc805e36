#pragma once
// Textual-inversion files: a few vectors that stand for one made-up word.

#include <filesystem>
#include <string_view>

#include "ballast/engine/core/result.hpp"
#include "ballast/runtime/text/clip_tokenizer.hpp"

namespace ballast::runtime::text {

/// Reads the vectors of a safetensors file: the tensor named `key` if there is one (files for
/// several text encoders name them so), else that of another name which embeddings have, else the
/// only one. It has the shape [rows, width] or [width] and any floating-point type. Fails as
/// `formats::open_tensors` does, with `foreign_file` when there is no such tensor, with
/// `unsupported` when it holds more than 64 MiB.
Result<EmbeddingRows> read_embedding(const std::filesystem::path& path,
                                     std::string_view key = "clip_l");

}  // namespace ballast::runtime::text
