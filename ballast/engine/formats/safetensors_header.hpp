#pragma once
// What the JSON header of a safetensors file says, tensor by tensor. Whether the tensors' bytes
// lie well beside each other is another question: see safetensors_layout.hpp.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/element_type.hpp"
#include "ballast/engine/core/result.hpp"

namespace ballast::formats {

/// Bytes of the file before the header, which say how long it is.
inline constexpr std::uint64_t kLengthField = 8;
/// Tensors with more axes are refused: no tensor library can hold them.
inline constexpr std::size_t kMaxAxes = 64;
/// Metadata with more members are refused, so that their memory stays in proportion to the file.
inline constexpr std::size_t kMaxMetadata = 100'000;

/// One tensor of a header. A view of the header's text: copies are made when all is known to be
/// well.
struct DescribedTensor {
    std::string_view name{};
    std::string_view type_name{};
    std::optional<ElementType> type{};  ///< nothing if `type_name` is unknown
    std::string_view sizes{};           ///< the text between the brackets of "shape", well-formed
    std::uint64_t begin = 0;            ///< from the first byte behind the header
    std::uint64_t end = 0;              ///< at least `begin`

    /// The sizes as numbers.
    [[nodiscard]] std::vector<std::int64_t> shape() const;
};

/// A header taken apart. `tensors` are in the order of the text; each has a shape and a type that
/// need exactly the bytes from `begin` to `end` (a type that is unknown needs any number). Names
/// may repeat.
struct SafetensorsHeader {
    std::deque<DescribedTensor> tensors;  // grows without holding old and new at once
    std::map<std::string, std::string> metadata;
    std::forward_list<std::string> resolved;  // texts with escapes that the views refer to
};

/// Takes `text` apart, which must outlive the result; `path` is for the error. Fails with
/// `corrupt_file`, naming the position in the file and the tensor.
Result<SafetensorsHeader> parse_safetensors_header(const std::filesystem::path& path,
                                                   std::string_view text);

/// `name` between quotes, shortened when it is too long for a message.
std::string quoted(std::string_view name);

}  // namespace ballast::formats
