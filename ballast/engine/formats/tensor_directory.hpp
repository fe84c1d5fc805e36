#pragma once
// What a weight file holds, read from its header alone.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/element_type.hpp"
#include "ballast/engine/formats/name_index.hpp"

namespace ballast::formats {

/// One tensor: its name, format, shape and place in the file.
struct TensorEntry {
    std::string name{};
    ElementType type = ElementType::f32;
    std::vector<std::int64_t> shape{};  ///< row-major, outermost first; empty for a scalar
    std::uint64_t offset = 0;           ///< bytes from the start of the file
    Bytes bytes{};

    /// Product of the shape; 1 for a scalar.
    [[nodiscard]] std::int64_t elements() const;
};

enum class FileFormat { safetensors, gguf, checkpoint };

/// "safetensors", "gguf", "checkpoint": the name in our JSON.
std::string to_string(FileFormat format);

/// The header of one weight file as a value: entries in the order of their offsets, each with a
/// name of its own.
class TensorDirectory {
public:
    TensorDirectory() = default;
    TensorDirectory(std::filesystem::path path, FileFormat format, Bytes file_size,
                    std::map<std::string, std::string> metadata, std::vector<TensorEntry> entries,
                    std::vector<std::string> warnings);
    /// The same with `by_name` made before, over the names of `entries`.
    TensorDirectory(std::filesystem::path path, FileFormat format, Bytes file_size,
                    std::map<std::string, std::string> metadata, std::vector<TensorEntry> entries,
                    std::vector<std::string> warnings, NameIndex by_name);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] FileFormat format() const { return format_; }
    [[nodiscard]] Bytes file_size() const { return file_size_; }
    [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
    [[nodiscard]] const std::vector<TensorEntry>& entries() const { return entries_; }
    /// Oddities that do not prevent use, one sentence each.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

    /// The entry of that name, or null. Logarithmic; the entry lives as long as the directory.
    [[nodiscard]] const TensorEntry* find(std::string_view name) const;
    /// Sum of all tensors' bytes.
    [[nodiscard]] Bytes tensor_bytes() const;

private:
    std::filesystem::path path_;
    FileFormat format_ = FileFormat::safetensors;
    Bytes file_size_;
    std::map<std::string, std::string> metadata_;
    std::vector<TensorEntry> entries_;
    std::vector<std::string> warnings_;
    NameIndex by_name_;  // over entries_; indices, so that a copy needs no care
};

struct OpenOptions {
    bool accept_gaps = false;  ///< unowned bytes between tensors: warn instead of refusing
    bool strict = false;       ///< refuse trailing bytes, too
};

/// Reads the header of a weight file, recognised by its content. Nothing but the header is read.
/// Fails with `not_found`, `io`, `foreign_file` (pointer file, pickle, HTML...) or `corrupt_file`;
/// the error names file, tensor and offset.
Result<TensorDirectory> open_tensors(const std::filesystem::path& path, const OpenOptions& = {});

}  // namespace ballast::formats
