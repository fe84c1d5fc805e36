#include "ballast/engine/formats/tensor_directory.hpp"

#include <algorithm>
#include <numeric>

namespace ballast::formats {

std::int64_t TensorEntry::elements() const {
    std::int64_t count = 1;
    for (const auto axis : shape) count *= axis;
    return count;
}

std::string_view to_string(FileFormat format) {
    switch (format) {
        case FileFormat::safetensors: return "safetensors";
        case FileFormat::gguf: return "gguf";
        case FileFormat::checkpoint: return "checkpoint";
    }
    return "safetensors";
}

TensorDirectory::TensorDirectory(std::filesystem::path path, FileFormat format, Bytes file_size,
                                 std::map<std::string, std::string> metadata,
                                 std::vector<TensorEntry> entries,
                                 std::vector<std::string> warnings)
    : path_(std::move(path)),
      format_(format),
      file_size_(file_size),
      metadata_(std::move(metadata)),
      entries_(std::move(entries)),
      warnings_(std::move(warnings)) {
    by_name_.resize(entries_.size());
    std::iota(by_name_.begin(), by_name_.end(), 0U);
    std::sort(by_name_.begin(), by_name_.end(),
              [this](auto a, auto b) { return entries_[a].name < entries_[b].name; });
}

const TensorEntry* TensorDirectory::find(std::string_view name) const {
    const auto found =
        std::lower_bound(by_name_.begin(), by_name_.end(), name,
                         [this](auto index, auto wanted) { return entries_[index].name < wanted; });
    if (found == by_name_.end() || entries_[*found].name != name) return nullptr;
    return &entries_[*found];
}

Bytes TensorDirectory::tensor_bytes() const {
    Bytes sum;
    for (const auto& entry : entries_) sum += entry.bytes;
    return sum;
}

}  // namespace ballast::formats
