#include "ballast/engine/formats/tensor_directory.hpp"

#include <utility>

namespace ballast::formats {
namespace {

auto names_of(const std::vector<TensorEntry>& entries) {
    return [&entries](std::uint32_t index) -> std::string_view { return entries[index].name; };
}

}  // namespace

std::int64_t TensorEntry::elements() const {
    std::int64_t count = 1;
    for (const auto axis : shape) count *= axis;
    return count;
}

std::string to_string(FileFormat format) {
    switch (format) {
        case FileFormat::safetensors: return "safetensors";
        case FileFormat::gguf: return "gguf";
        case FileFormat::checkpoint: return "checkpoint";
    }
    return "unknown";
}

TensorDirectory::TensorDirectory(std::filesystem::path path, FileFormat format, Bytes file_size,
                                 std::map<std::string, std::string> metadata,
                                 std::vector<TensorEntry> entries,
                                 std::vector<std::string> warnings)
    : TensorDirectory(std::move(path), format, file_size, std::move(metadata), std::move(entries),
                      std::move(warnings), NameIndex{}) {
    by_name_ = NameIndex(entries_.size(), names_of(entries_));
}

TensorDirectory::TensorDirectory(std::filesystem::path path, FileFormat format, Bytes file_size,
                                 std::map<std::string, std::string> metadata,
                                 std::vector<TensorEntry> entries,
                                 std::vector<std::string> warnings, NameIndex by_name)
    : path_(std::move(path)),
      format_(format),
      file_size_(file_size),
      metadata_(std::move(metadata)),
      entries_(std::move(entries)),
      warnings_(std::move(warnings)),
      by_name_(std::move(by_name)) {}

const TensorEntry* TensorDirectory::find(std::string_view name) const {
    const auto index = by_name_.find(name, names_of(entries_));
    return index ? &entries_[*index] : nullptr;
}

Bytes TensorDirectory::tensor_bytes() const {
    Bytes sum;
    for (const auto& entry : entries_) sum += entry.bytes;
    return sum;
}

}  // namespace ballast::formats
