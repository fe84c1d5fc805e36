#pragma once
// Number formats of stored tensors.

#include <cstdint>
#include <optional>
#include <string_view>

#include "ballast/engine/core/bytes.hpp"

namespace ballast {

/// Every element format of the safetensors container, by its name there.
enum class ElementType {
    boolean,  // BOOL, one byte
    f4,       // F4, two per byte
    f6_e2m3,
    f6_e3m2,
    u8,
    i8,
    f8_e5m2,
    f8_e4m3,  // "fn": no infinities
    f8_e8m0,
    i16,
    u16,
    f16,
    bf16,
    i32,
    u32,
    f32,
    c64,  // two f32
    f64,
    i64,
    u64,
};

/// Bits of one element: 4, 6, 8, 16, 32 or 64.
unsigned bits(ElementType type);

/// "F16", "F8_E4M3": the name in safetensors headers and in our JSON.
std::string_view to_string(ElementType type);
std::optional<ElementType> parse_element_type(std::string_view name);

/// Bytes of `count` elements; nothing if they do not fill whole bytes or the product overflows.
std::optional<Bytes> bytes_of(ElementType type, std::uint64_t count);

}  // namespace ballast
