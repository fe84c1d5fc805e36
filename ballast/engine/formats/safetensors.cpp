#include "ballast/engine/formats/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "ballast/engine/formats/header_scanner.hpp"

namespace ballast::formats {
namespace {

constexpr std::size_t kMaxAxes = 64;
constexpr std::string_view kMetadata = "__metadata__";
constexpr std::string_view kRemedy = "the file is damaged or was written wrongly; fetch it again";

/// A tensor as the header has it; `begin` and `end` count from the start of the tensor bytes.
struct Raw {
    std::string name;
    std::string type;
    std::vector<std::uint64_t> shape;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

class HeaderReader {
public:
    HeaderReader(const std::filesystem::path& path, std::string_view header,
                 std::uint64_t data_begin, std::uint64_t file_size, const OpenOptions& options)
        : path_(path),
          scanner_(header),
          data_begin_(data_begin),
          data_size_(file_size - data_begin),
          file_size_(file_size),
          options_(options) {}

    Result<TensorDirectory> read() {
        if (!scan()) {
            return fail(Error{.code = Code::corrupt_file,
                              .what = "not a readable safetensors header",
                              .why = scanner_.fault(),
                              .place = {.file = path_.string(),
                                        .offset = 8 + scanner_.position(),
                                        .key = name_},
                              .hint = std::string(kRemedy)});
        }
        for (const auto& raw : raws_)
            if (auto fault = add(raw)) return fail(*std::move(fault));
        if (auto fault = check_coverage()) return fail(*std::move(fault));
        return TensorDirectory(path_, FileFormat::safetensors, Bytes{file_size_},
                               std::move(metadata_), std::move(entries_), std::move(warnings_));
    }

private:
    bool scan() {
        if (!scanner_.expect('{')) return false;
        if (!scanner_.accept('}')) {
            do {
                name_.clear();
                if (!scanner_.string(name_) || !scanner_.expect(':')) return false;
                if (!(name_ == kMetadata ? metadata() : tensor())) return false;
            } while (scanner_.accept(','));
            name_.clear();
            if (!scanner_.expect('}')) return false;
        }
        return scanner_.is_at_end() || scanner_.fail("text behind the header's end");
    }

    bool metadata() {
        if (has_metadata_) return scanner_.fail("the metadata stand there twice");
        has_metadata_ = true;
        if (!scanner_.expect('{')) return false;
        if (scanner_.accept('}')) return true;
        do {
            std::string key;
            std::string value;
            if (!scanner_.string(key) || !scanner_.expect(':') || !scanner_.string(value))
                return false;
            metadata_.insert_or_assign(std::move(key), std::move(value));
        } while (scanner_.accept(','));
        return scanner_.expect('}');
    }

    bool tensor() {
        if (name_.empty()) return scanner_.fail("a tensor without a name");
        const auto is_control = [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return byte < 0x20 || byte == 0x7F;
        };
        if (std::any_of(name_.begin(), name_.end(), is_control))
            return scanner_.fail("control characters in a tensor's name");
        Raw raw;
        raw.name = name_;
        bool has_type = false;
        bool has_shape = false;
        bool has_offsets = false;
        if (!scanner_.expect('{')) return false;
        if (!scanner_.accept('}')) {
            do {
                if (!scanner_.string(key_) || !scanner_.expect(':')) return false;
                if (key_ == "dtype" && !has_type) {
                    has_type = scanner_.string(raw.type);
                } else if (key_ == "shape" && !has_shape) {
                    has_shape = scanner_.integers(raw.shape, kMaxAxes);
                } else if (key_ == "data_offsets" && !has_offsets) {
                    has_offsets = scanner_.integers(offsets_, 2);
                    if (has_offsets && offsets_.size() != 2)
                        return scanner_.fail("data_offsets is not a pair");
                } else {
                    return scanner_.fail(
                        fmt::format("unknown or repeated member '{}' of a tensor", key_));
                }
            } while (scanner_.accept(','));
            if (!scanner_.expect('}')) return false;
        }
        if (!has_type || !has_shape || !has_offsets)
            return scanner_.fail("a tensor without dtype, shape or data_offsets");
        raw.begin = offsets_[0];
        raw.end = offsets_[1];
        raws_.push_back(std::move(raw));
        return true;
    }

    [[nodiscard]] Error error(const Raw& raw, std::string why) const {
        return Error{.code = Code::corrupt_file,
                     .what = "the safetensors file is inconsistent",
                     .why = std::move(why),
                     .place = {.file = path_.string(), .key = raw.name},
                     .hint = std::string(kRemedy)};
    }

    /// Ranges are checked first: they must hold whatever the type is.
    std::optional<Error> add(const Raw& raw) {
        if (raw.begin > raw.end)
            return error(raw, fmt::format("its bytes end at {}, before they begin at {}", raw.end,
                                          raw.begin));
        if (raw.end > data_size_) {
            return error(raw, fmt::format("truncated: its bytes end at {}, but only {} of {} bytes "
                                          "are present",
                                          raw.end, data_size_, raw.end));
        }
        const auto type = parse_element_type(raw.type);
        if (!type) return error(raw, fmt::format("unknown number format '{}'", raw.type));

        std::vector<std::int64_t> shape;
        shape.reserve(raw.shape.size());
        std::uint64_t count = 1;
        constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        for (const auto axis : raw.shape) {
            if (axis > kMost || (axis != 0 && count > kMost / axis))
                return error(raw, "its shape has more elements than a file can hold");
            count *= axis;
            shape.push_back(static_cast<std::int64_t>(axis));
        }
        const auto bytes = bytes_of(*type, count);
        if (!bytes || bytes->count() != raw.end - raw.begin) {
            return error(raw, fmt::format("its shape needs {} bytes of {}, but it has {}",
                                          bytes ? fmt::to_string(bytes->count())
                                                : std::string("a broken number of"),
                                          raw.type, raw.end - raw.begin));
        }
        entries_.push_back({.name = raw.name,
                            .type = *type,
                            .shape = std::move(shape),
                            .offset = data_begin_ + raw.begin,
                            .bytes = *bytes});
        return std::nullopt;
    }

    /// Every byte belongs to exactly one tensor; no name stands there twice.
    std::optional<Error> check_coverage() {
        // an empty tensor may share its place with the one that begins there: it sorts before it
        std::sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
            return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
        });
        std::uint64_t covered = data_begin_;
        const TensorEntry* last = nullptr;
        for (const auto& entry : entries_) {
            if (entry.offset < covered) {
                return Error{.code = Code::corrupt_file,
                             .what = "the safetensors file is inconsistent",
                             .why = fmt::format("tensors '{}' and '{}' share bytes {} to {}",
                                                last->name, entry.name, entry.offset - data_begin_,
                                                covered - data_begin_),
                             .place = {.file = path_.string(), .offset = entry.offset},
                             .hint = std::string(kRemedy)};
            }
            if (auto fault = gap(covered, entry.offset)) return fault;
            covered = entry.offset + entry.bytes.count();
            if (!entry.bytes.is_zero()) last = &entry;
        }
        if (auto fault = trailing(covered)) return fault;
        return duplicate();
    }

    std::optional<Error> gap(std::uint64_t from, std::uint64_t to) {
        if (from == to) return std::nullopt;
        auto text = fmt::format("{} bytes at {} belong to no tensor", to - from, from - data_begin_);
        if (options_.accept_gaps) {
            warnings_.push_back(std::move(text));
            return std::nullopt;
        }
        return Error{.code = Code::corrupt_file,
                     .what = "the safetensors file is inconsistent",
                     .why = std::move(text),
                     .place = {.file = path_.string(), .offset = from},
                     .hint = std::string(kRemedy)};
    }

    std::optional<Error> trailing(std::uint64_t covered) {
        if (covered == file_size_) return std::nullopt;
        auto text = fmt::format("{} bytes behind the last tensor", file_size_ - covered);
        if (!options_.strict) {
            warnings_.push_back(std::move(text));
            return std::nullopt;
        }
        return Error{.code = Code::corrupt_file,
                     .what = "the safetensors file is inconsistent",
                     .why = std::move(text),
                     .place = {.file = path_.string(), .offset = covered},
                     .hint = std::string(kRemedy)};
    }

    [[nodiscard]] std::optional<Error> duplicate() const {
        std::vector<std::string_view> names;
        names.reserve(entries_.size());
        for (const auto& entry : entries_) names.push_back(entry.name);
        std::sort(names.begin(), names.end());
        const auto twice = std::adjacent_find(names.begin(), names.end());
        if (twice == names.end()) return std::nullopt;
        return Error{.code = Code::corrupt_file,
                     .what = "the safetensors file is inconsistent",
                     .why = "two tensors have the same name",
                     .place = {.file = path_.string(), .key = std::string(*twice)},
                     .hint = std::string(kRemedy)};
    }

    const std::filesystem::path& path_;
    HeaderScanner scanner_;
    std::uint64_t data_begin_;
    std::uint64_t data_size_;
    std::uint64_t file_size_;
    OpenOptions options_;
    std::string name_;  // what is being read, for the error
    std::string key_;
    std::vector<std::uint64_t> offsets_;
    bool has_metadata_ = false;
    std::vector<Raw> raws_;
    std::map<std::string, std::string> metadata_;
    std::vector<TensorEntry> entries_;
    std::vector<std::string> warnings_;
};

std::uint64_t little_endian(const std::array<std::byte, 8>& bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return value;
}

}  // namespace

Result<TensorDirectory> parse_safetensors_header(const std::filesystem::path& path,
                                                 std::string_view header, std::uint64_t data_begin,
                                                 std::uint64_t file_size,
                                                 const OpenOptions& options) {
    return HeaderReader(path, header, data_begin, file_size, options).read();
}

Result<TensorDirectory> read_safetensors(const File& file, const OpenOptions& options) {
    const auto size = file.size().count();
    std::array<std::byte, 8> prefix{};
    if (auto read = file.read_at(0, prefix); !read) return fail(std::move(read).error());
    const auto length = little_endian(prefix);
    const auto refuse = [&](std::string why, std::string hint) {
        return fail(Error{.code = Code::corrupt_file,
                          .what = "not a readable safetensors file",
                          .why = std::move(why),
                          .place = {.file = file.path().string(), .offset = 0},
                          .hint = std::move(hint)});
    };
    if (length > kMaxHeaderBytes) {
        return refuse(fmt::format("its header would have {} bytes; at most {} are allowed", length,
                                  kMaxHeaderBytes),
                      "this is probably a file of another kind with a wrong name");
    }
    if (length > size - prefix.size()) {
        return refuse(fmt::format("truncated: {} of {} bytes present", size, length + 8),
                      "the download was probably cut off; fetch it again");
    }
    std::string header(length, '\0');
    auto read = file.read_at(8, std::as_writable_bytes(std::span(header)));
    if (!read) return fail(std::move(read).error());
    return parse_safetensors_header(file.path(), header, 8 + length, size, options);
}

}  // namespace ballast::formats
