#include "ballast/engine/core/element_type.hpp"

#include <array>
#include <limits>

namespace ballast {
namespace {

struct Row {
    ElementType type;
    std::string_view name;
    unsigned bits;
};

// in the order of the enumeration
constexpr std::array<Row, 20> kTypes{{
    {ElementType::boolean, "BOOL", 8},    {ElementType::f4, "F4", 4},
    {ElementType::f6_e2m3, "F6_E2M3", 6}, {ElementType::f6_e3m2, "F6_E3M2", 6},
    {ElementType::u8, "U8", 8},           {ElementType::i8, "I8", 8},
    {ElementType::f8_e5m2, "F8_E5M2", 8}, {ElementType::f8_e4m3, "F8_E4M3", 8},
    {ElementType::f8_e8m0, "F8_E8M0", 8}, {ElementType::i16, "I16", 16},
    {ElementType::u16, "U16", 16},        {ElementType::f16, "F16", 16},
    {ElementType::bf16, "BF16", 16},      {ElementType::i32, "I32", 32},
    {ElementType::u32, "U32", 32},        {ElementType::f32, "F32", 32},
    {ElementType::c64, "C64", 64},        {ElementType::f64, "F64", 64},
    {ElementType::i64, "I64", 64},        {ElementType::u64, "U64", 64},
}};

const Row& row(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

unsigned bits(ElementType type) { return row(type).bits; }

std::string_view to_string(ElementType type) { return row(type).name; }

std::optional<ElementType> parse_element_type(std::string_view name) {
    for (const auto& candidate : kTypes)
        if (candidate.name == name) return candidate.type;
    return std::nullopt;
}

std::optional<Bytes> bytes_of(ElementType type, std::uint64_t count) {
    const std::uint64_t width = bits(type);
    if (count > std::numeric_limits<std::uint64_t>::max() / width) return std::nullopt;
    const auto total = count * width;
    if (total % 8 != 0) return std::nullopt;
    return Bytes{total / 8};
}

}  // namespace ballast
