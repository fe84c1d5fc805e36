#include "ballast/engine/formats/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/engine/core/utf8.hpp"
#include "ballast/engine/formats/header_scanner.hpp"

namespace ballast::formats {
namespace {

constexpr std::size_t kLongestShown = 200;
constexpr std::uint64_t kMostElements = std::numeric_limits<std::int64_t>::max();

/// C0 and C1 control characters and DEL; `text` is well-formed UTF-8.
bool has_control_characters(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c < 0x20 || c == 0x7F) return true;
        if (c == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) return true;
    }
    return false;
}

/// Recursive descent over the header's grammar, whose depth is fixed. Each function returns false
/// after a fault, which the scanner holds.
class HeaderParser {
public:
    explicit HeaderParser(std::string_view text) : scanner_(text), text_(text) {}

    Result<SafetensorsHeader> parse(const std::filesystem::path& path) {
        if (!header()) {
            const auto key = utf8_prefix(name_, kLongestShown);
            return fail(Error{.code = Code::corrupt_file,
                              .what = "the safetensors header is wrong",
                              .why = scanner_.fault(),
                              .place = {.file = path.string(),
                                        .offset = kLengthField + scanner_.position(),
                                        .key = std::string(key)},
                              .hint = "the file is damaged or was written wrongly: fetch it again, "
                                      "or convert it anew"});
        }
        content_.resolved = scanner_.take_resolved();
        return std::move(content_);
    }

private:
    bool header() {
        if (!text_.starts_with('{')) return scanner_.fail("it does not begin with '{'");
        if (!members([this] { return header_member(); })) return false;
        name_ = {};
        return scanner_.is_at_end() || scanner_.fail("something follows the header's end");
    }

    /// An object; `member` reads the value of each, whose name is in `key_`.
    template <typename F>
    bool members(F member) {
        if (!scanner_.expect('{')) return false;
        if (scanner_.accept('}')) return true;
        do {
            key_position_ = scanner_.position();
            if (!scanner_.string(key_) || !scanner_.expect(':') || !member()) return false;
        } while (scanner_.accept(','));
        return scanner_.expect('}');
    }

    bool header_member() {
        name_ = key_;
        name_position_ = key_position_;
        if (key_ == "__metadata__") return metadata();
        return tensor();
    }

    bool metadata() {
        if (has_metadata_) return scanner_.fail("the metadata stand in the header twice");
        has_metadata_ = true;
        return members([this] {
            std::string_view value;
            const auto key = key_;
            if (!scanner_.string(value)) return false;
            if (content_.metadata.size() == kMaxMetadata)
                return scanner_.fail(fmt::format("more than {} metadata", kMaxMetadata));
            const bool is_new = content_.metadata.emplace(key, value).second;
            return is_new || scanner_.fail(fmt::format("the metadata have {} twice", quoted(key)));
        });
    }

    bool tensor() {
        if (has_control_characters(name_))
            return scanner_.fail("the tensor's name contains control characters");
        tensor_ = {.name = name_};
        has_type_ = has_shape_ = has_offsets_ = false;
        if (!members([this] { return tensor_member(); })) return false;
        for (const auto& [has, member] :
             {std::pair{has_type_, "dtype"}, std::pair{has_shape_, "shape"},
              std::pair{has_offsets_, "data_offsets"}})
            if (!has) return scanner_.fail(fmt::format("the tensor has no {}", member));
        if (!size_is_right()) return false;
        content_.tensors.push_back(tensor_);
        return true;
    }

    bool tensor_member() {
        const auto once = [this](bool& has) {
            if (has) return scanner_.fail(fmt::format("the tensor has {} twice", quoted(key_)));
            return has = true;
        };
        if (key_ == "dtype") return once(has_type_) && scanner_.string(tensor_.type_name);
        if (key_ == "shape") return once(has_shape_) && shape();
        if (key_ == "data_offsets") return once(has_offsets_) && offsets();
        return scanner_.fail(fmt::format("a tensor has no member {}", quoted(key_)));
    }

    /// Counts the elements; the numbers themselves stay in the text.
    bool shape() {
        if (!scanner_.expect('[')) return false;
        const auto begin = scanner_.position();
        std::size_t axes = 0;
        bool is_empty = false;
        elements_ = 1;
        if (!scanner_.accept(']')) {
            do {
                std::uint64_t size = 0;
                if (!scanner_.unsigned_integer(size)) return false;
                if (++axes > kMaxAxes)
                    return scanner_.fail(fmt::format("the shape has more than {} axes", kMaxAxes));
                is_empty = is_empty || size == 0;
                // checked without the zeros, too: strides are products of any run of sizes
                const auto factor = std::max<std::uint64_t>(size, 1);
                if (factor > kMostElements / elements_)
                    return scanner_.fail("the shape has more elements than 63 bits can count");
                elements_ *= factor;
            } while (scanner_.accept(','));
            if (!scanner_.expect(']')) return false;
        }
        tensor_.sizes = text_.substr(begin, scanner_.position() - 1 - begin);
        if (is_empty) elements_ = 0;
        return true;
    }

    bool offsets() {
        return scanner_.expect('[') && scanner_.unsigned_integer(tensor_.begin) &&
               scanner_.expect(',') && scanner_.unsigned_integer(tensor_.end) &&
               scanner_.expect(']');
    }

    /// The order of the offsets is checked whatever the type is.
    bool size_is_right() {
        const auto refuse = [this](std::string why) {
            return scanner_.fail_at(name_position_, std::move(why));
        };
        if (tensor_.begin > tensor_.end)
            return refuse(fmt::format("its bytes end at {}, before they begin at {}", tensor_.end,
                                      tensor_.begin));
        tensor_.type = parse_element_type(tensor_.type_name);
        if (!tensor_.type) return true;
        const auto stored = tensor_.end - tensor_.begin;
        const auto needed = bytes_of(*tensor_.type, elements_);
        if (!needed)
            return refuse(
                fmt::format("{} elements of {} fill no whole bytes", elements_, tensor_.type_name));
        if (needed->count() == stored) return true;
        return refuse(fmt::format("shape [{}] of {} needs {} bytes, but the file has {} for it",
                                  tensor_.sizes, tensor_.type_name, needed->count(), stored));
    }

    HeaderScanner scanner_;
    std::string_view text_;
    SafetensorsHeader content_;
    std::string_view key_;   // the member that is being read
    std::string_view name_;  // the tensor that is being read, for the error
    std::size_t key_position_ = 0;
    std::size_t name_position_ = 0;
    DescribedTensor tensor_;
    std::uint64_t elements_ = 1;
    bool has_metadata_ = false;
    bool has_type_ = false;
    bool has_shape_ = false;
    bool has_offsets_ = false;
};

}  // namespace

std::vector<std::int64_t> DescribedTensor::shape() const {
    std::vector<std::int64_t> numbers;
    if (std::any_of(sizes.begin(), sizes.end(), is_digit))
        numbers.reserve(1 + static_cast<std::size_t>(std::count(sizes.begin(), sizes.end(), ',')));
    bool is_inside = false;
    for (const char c : sizes) {
        if (is_digit(c)) {
            if (!is_inside) numbers.push_back(0);
            numbers.back() = numbers.back() * 10 + (c - '0');
        }
        is_inside = is_digit(c);
    }
    return numbers;
}

Result<SafetensorsHeader> parse_safetensors_header(const std::filesystem::path& path,
                                                   std::string_view text) {
    return HeaderParser(text).parse(path);
}

std::string quoted(std::string_view name) {
    const auto shown = utf8_prefix(name, kLongestShown);
    return fmt::format("'{}{}'", shown, shown.size() < name.size() ? "..." : "");
}

}  // namespace ballast::formats
