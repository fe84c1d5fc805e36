#include "ballast/engine/formats/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "ballast/engine/formats/safetensors_header.hpp"
#include "ballast/engine/formats/safetensors_layout.hpp"

namespace ballast::formats {
namespace {

std::uint64_t little_endian(std::string_view eight_bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kLengthField; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(eight_bytes[i])} << (8 * i);
    return value;
}

constexpr auto kCutOff = "the download or copy was cut off: fetch the file again";
constexpr auto kForeign = "it is probably a file of another kind under a wrong name";

Error unreadable(const std::filesystem::path& path, Code code, std::string why, std::string hint) {
    return Error{.code = code,
                 .what = "not a readable safetensors file",
                 .why = std::move(why),
                 .place = {.file = path.string(), .offset = 0},
                 .hint = std::move(hint)};
}

Error repeated_name(const std::filesystem::path& path, std::string_view name) {
    return Error{.code = Code::corrupt_file,
                 .what = "the safetensors header is wrong",
                 .why = fmt::format("two tensors are called {}", quoted(name)),
                 .place = {.file = path.string()},
                 .hint = "the file was written wrongly: fetch it again, or convert it anew"};
}

Error unknown_type(const std::filesystem::path& path, const DescribedTensor& tensor) {
    return Error{.code = Code::corrupt_file,
                 .what = "the safetensors header is wrong",
                 .why = fmt::format("tensor {} has the unknown element type {}",
                                    quoted(tensor.name), quoted(tensor.type_name)),
                 .place = {.file = path.string()},
                 .hint = "the file was written by a newer program, or is damaged"};
}

/// The header's length, known to lie inside the file.
Result<std::uint64_t> header_length(const File& file) {
    const auto size = file.size().count();
    std::array<char, kLengthField + 1> head{};  // with the first character of the header
    const auto present = std::min<std::uint64_t>(size, head.size());
    auto read = file.read_at(0, std::as_writable_bytes(std::span(head).first(present)));
    if (!read) return fail(std::move(read).error());
    const auto refuse = [&](Code code, std::string why, std::string hint) {
        return fail(unreadable(file.path(), code, std::move(why), std::move(hint)));
    };
    if (size < kLengthField)
        return refuse(Code::corrupt_file,
                      fmt::format("truncated: {} of {} bytes present, which alone say how long the "
                                  "header is",
                                  size, kLengthField),
                      kCutOff);
    const auto length = little_endian({head.data(), head.size()});
    if (length < 2)
        return refuse(Code::corrupt_file,
                      fmt::format("its header has {} bytes, which cannot be", length),
                      "a file of zeros is what an unfinished download leaves: fetch it again");
    if (length > kMaxHeaderBytes)
        return refuse(Code::foreign_file,
                      fmt::format("its header would have {} bytes; the file has {}, and at most {} "
                                  "are allowed",
                                  length, size, kMaxHeaderBytes),
                      kForeign);
    if (size > kLengthField && head[kLengthField] != '{')
        return refuse(Code::foreign_file, "its header does not begin with '{'", kForeign);
    if (length > size - kLengthField)
        return refuse(Code::corrupt_file,
                      fmt::format("truncated: {} of {} bytes present, which the header alone needs",
                                  size, kLengthField + length),
                      kCutOff);
    return length;
}

}  // namespace

bool looks_like_safetensors(std::string_view head) {
    return head.size() > kLengthField && little_endian(head) <= kMaxHeaderBytes &&
           head[kLengthField] == '{';
}

Result<TensorDirectory> read_safetensors(const File& file, const OpenOptions& options) {
    const auto length = header_length(file);
    if (!length) return fail(length.error());
    // not a std::string: it would write zeros first
    const auto text = std::make_unique_for_overwrite<char[]>(*length);
    auto read = file.read_at(kLengthField, std::as_writable_bytes(std::span(text.get(), *length)));
    if (!read) return fail(std::move(read).error());
    return interpret_safetensors(file.path(), {text.get(), *length}, file.size(), options);
}

Result<TensorDirectory> interpret_safetensors(const std::filesystem::path& path,
                                              std::string_view header, Bytes file_size,
                                              const OpenOptions& options) {
    auto described = parse_safetensors_header(path, header);
    if (!described) return fail(std::move(described).error());
    const auto& tensors = described->tensors;

    const auto data_begin = kLengthField + header.size();
    auto layout = lay_out({.path = path,
                           .tensors = tensors,
                           .data_begin = data_begin,
                           .file_size = file_size.count(),
                           .options = options});
    if (!layout) return fail(std::move(layout).error());

    const auto name_of = [&](std::uint32_t i) { return tensors[layout->order[i]].name; };
    NameIndex by_name(tensors.size(), name_of);
    if (const auto twice = by_name.find_repeated(name_of))
        return fail(repeated_name(path, name_of(*twice)));
    for (const auto& tensor : tensors)
        if (!tensor.type) return fail(unknown_type(path, tensor));

    // nothing can fail any more: only now are names and shapes copied
    std::vector<TensorEntry> entries;
    entries.reserve(tensors.size());
    for (const auto index : layout->order) {
        const auto& tensor = tensors[index];
        entries.push_back({.name = std::string(tensor.name),
                           .type = *tensor.type,  // NOLINT(bugprone-unchecked-optional-access)
                           .shape = tensor.shape(),
                           .offset = data_begin + tensor.begin,
                           .bytes = Bytes{tensor.end - tensor.begin}});
    }
    return TensorDirectory(path, FileFormat::safetensors, file_size, std::move(described->metadata),
                           std::move(entries), std::move(layout->warnings), std::move(by_name));
}

}  // namespace ballast::formats
