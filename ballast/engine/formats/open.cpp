#include <algorithm>
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
    constexpr std::uint64_t kHead = 512;
    std::string head(std::min(kHead, file->size().count()), '\0');
    if (auto read = file->read_at(0, std::as_writable_bytes(std::span(head))); !read)
        return fail(std::move(read).error());
    // by chance a header's length may look like another format's signature
    const bool has_header = head.size() > 8 && head[8] == '{';
    if (auto foreign = has_header ? std::nullopt : recognise_foreign(head)) {
        foreign->place.file = path.string();
        return fail(*std::move(foreign));
    }
    if (head.size() < 8) {
        return fail(Error{.code = Code::foreign_file,
                          .what = "not a weight file",
                          .why = "truncated: " + std::to_string(head.size()) +
                                 " bytes present, at least 8 are needed",
                          .place = {.file = path.string()},
                          .hint = "fetch it again"});
    }
    return read_safetensors(*file, options);
}

}  // namespace ballast::formats
