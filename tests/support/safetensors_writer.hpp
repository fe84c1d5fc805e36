#pragma once
// Writes safetensors files for tests: from a list of tensors, or from a header that is wrong on
// purpose. It follows the format's description, not our reader: an 8-byte little-endian header
// length, a JSON object, then the tensors' bytes without holes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ballast/engine/core/element_type.hpp"

namespace ballast::testing {

/// One tensor as it will be stored. The writer checks nothing, so that tests can lie.
struct StoredTensor {
    std::string name{};
    ElementType type = ElementType::f32;
    std::vector<std::int64_t> shape{};
    std::string bytes{};
};

using Metadata = std::map<std::string, std::string>;

/// The values' own bytes (little-endian machines only, as the whole product).
template <typename T>
std::string bytes_of_values(const std::vector<T>& values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

/// An F32 tensor with the given values.
inline StoredTensor stored_floats(std::string name, std::vector<std::int64_t> shape,
                                  const std::vector<float>& values) {
    return {std::move(name), ElementType::f32, std::move(shape), bytes_of_values(values)};
}

/// A tensor of that shape whose bytes follow from `seed`: any two places and seeds differ soon.
inline StoredTensor stored_pattern(std::string name, ElementType type,
                                   std::vector<std::int64_t> shape, std::uint64_t seed = 0) {
    std::uint64_t elements = 1;
    for (const auto size : shape) elements *= static_cast<std::uint64_t>(size);
    const auto count = ballast::bytes_of(type, elements);
    if (!count) throw std::invalid_argument(name + ": elements fill no whole bytes");
    std::string bytes(count->count(), '\0');
    std::uint64_t state = seed;
    for (auto& byte : bytes) {
        state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
        byte = static_cast<char>(state >> 56U);
    }
    return {std::move(name), type, std::move(shape), std::move(bytes)};
}

/// `text` between quotes with JSON's escapes; bytes beyond ASCII stay as they are.
inline std::string json_quoted(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (code < 0x20) {
            quoted += "\\u00";
            quoted += kDigits[code >> 4U];
            quoted += kDigits[code & 15U];
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

/// The member of the header that describes one tensor: `"name":{"dtype":...}`.
inline std::string header_member(std::string_view name, std::string_view dtype,
                                 const std::vector<std::int64_t>& shape, std::uint64_t begin,
                                 std::uint64_t end) {
    std::string sizes;
    for (const auto size : shape) sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    return json_quoted(name) + ":{\"dtype\":" + json_quoted(dtype) + ",\"shape\":[" + sizes +
           "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

/// A whole file from any header text and any data; the length field fits the header.
inline std::string safetensors_with_header(std::string_view header, std::string_view data) {
    std::string file;
    std::uint64_t length = header.size();
    for (int i = 0; i < 8; ++i, length >>= 8U) file += static_cast<char>(length & 0xFFU);
    file += header;
    file += data;
    return file;
}

/// A whole well-formed file. The header is padded with blanks to a multiple of 8, as writers do.
inline std::string safetensors_file(const std::vector<StoredTensor>& tensors,
                                    const Metadata& metadata = {}) {
    std::string members;
    if (!metadata.empty()) {
        std::string texts;
        for (const auto& [key, value] : metadata)
            texts += (texts.empty() ? "" : ",") + json_quoted(key) + ":" + json_quoted(value);
        members = "\"__metadata__\":{" + texts + "}";
    }
    std::string data;
    for (const auto& tensor : tensors) {
        if (!members.empty()) members += ',';
        members += header_member(tensor.name, to_string(tensor.type), tensor.shape, data.size(),
                                 data.size() + tensor.bytes.size());
        data += tensor.bytes;
    }
    std::string header = "{" + members + "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    return safetensors_with_header(header, data);
}

/// Writes `safetensors_file` to `path`.
inline void write_safetensors(const std::filesystem::path& path,
                              const std::vector<StoredTensor>& tensors,
                              const Metadata& metadata = {}) {
    const auto file = safetensors_file(tensors, metadata);
    std::ofstream stream(path, std::ios::binary);
    stream.write(file.data(), static_cast<std::streamsize>(file.size()));
    stream.close();
    if (!stream) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace ballast::testing
