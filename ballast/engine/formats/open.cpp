#include <algorithm>
#include <filesystem>
#include <span>
#include <string>

#include "ballast/engine/formats/foreign.hpp"
#include "ballast/engine/formats/io/file.hpp"
#include "ballast/engine/formats/safetensors.hpp"
#include "ballast/engine/formats/tensor_directory.hpp"

namespace ballast::formats {

Result<TensorDirectory> open_tensors(const std::filesystem::path& path,
                                     const OpenOptions& options) {
    const auto file = File::open(path);
    if (!file) return fail(file.error());
    std::string head(std::min<std::uint64_t>(kHeadBytes, file->size().count()), '\0');
    if (auto read = file->read_at(0, std::as_writable_bytes(std::span(head))); !read)
        return fail(std::move(read).error());
    if (!looks_like_safetensors(head)) {
        if (auto foreign = recognise_foreign(head)) {
            foreign->place.file = path.string();
            return fail(*std::move(foreign));
        }
    }
    return read_safetensors(*file, options);
}

}  // namespace ballast::formats
