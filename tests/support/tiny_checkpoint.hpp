#pragma once
// The tiny golden checkpoint as tensors in memory, to be cut, changed and written again.

#include <c10/util/Half.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tests/support/golden_networks.hpp"
#include "tests/support/safetensors_writer.hpp"

namespace ballast::testing {

inline std::vector<StoredTensor> tiny_checkpoint() {
    const auto path = golden_network("sd15-tiny.safetensors");
    const auto directory = runtime::value_or_throw(formats::open_tensors(path));
    const auto file = runtime::value_or_throw(formats::File::open(path));
    std::vector<StoredTensor> tensors;
    for (const auto& entry : directory.entries()) {
        StoredTensor tensor{.name = entry.name, .type = entry.type, .shape = entry.shape};
        tensor.bytes.resize(entry.bytes.count());
        runtime::value_or_throw(
            file.read_at(entry.offset, std::as_writable_bytes(std::span(tensor.bytes))));
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

/// Writes `tensors` as a file that describes itself as the tiny checkpoint does: its widths do not
/// tell the number of attention heads.
inline void write_tiny(const std::filesystem::path& path,
                       const std::vector<StoredTensor>& tensors) {
    static const auto kMetadata =
        runtime::value_or_throw(formats::open_tensors(golden_network("sd15-tiny.safetensors")))
            .metadata();
    write_safetensors(path, tensors, kMetadata);
}

/// The tensors below `prefix`, renamed to start with `becomes`: a component file.
inline std::vector<StoredTensor> part_of(const std::vector<StoredTensor>& tensors,
                                         std::string_view prefix, std::string_view becomes) {
    std::vector<StoredTensor> part;
    for (auto tensor : tensors) {
        if (!tensor.name.starts_with(prefix)) continue;
        tensor.name.replace(0, prefix.size(), becomes);
        part.push_back(std::move(tensor));
    }
    return part;
}

/// Every F16 tensor stored as F32: the same numbers in twice the bytes.
inline std::vector<StoredTensor> widened(std::vector<StoredTensor> tensors) {
    for (auto& tensor : tensors) {
        if (tensor.type != ElementType::f16) continue;
        std::vector<c10::Half> halves(tensor.bytes.size() / sizeof(c10::Half));
        std::memcpy(halves.data(), tensor.bytes.data(), tensor.bytes.size());
        tensor.bytes = bytes_of_values(std::vector<float>(halves.begin(), halves.end()));
        tensor.type = ElementType::f32;
    }
    return tensors;
}

/// Overwrites every number of the F16 tensor `name` with one that is none.
inline void fill_with_nan(std::vector<StoredTensor>& tensors, std::string_view name) {
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const auto& tensor) { return tensor.name == name; });
    if (found == tensors.end()) throw std::invalid_argument("no such tensor");
    found->bytes.assign(found->bytes.size(), '\x7E');  // 0x7E7E: a quiet NaN
}

}  // namespace ballast::testing
