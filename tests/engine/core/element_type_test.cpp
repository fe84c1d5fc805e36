#include "ballast/engine/core/element_type.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace ballast {
namespace {

using enum ElementType;

struct Fact {
    ElementType type;
    std::string_view name;
    unsigned bits;
};

// names and sizes of the safetensors format
const std::vector<Fact> kFacts{
    {boolean, "BOOL", 8},    {f4, "F4", 4},    {f6_e2m3, "F6_E2M3", 6}, {f6_e3m2, "F6_E3M2", 6},
    {u8, "U8", 8},           {i8, "I8", 8},    {f8_e5m2, "F8_E5M2", 8}, {f8_e4m3, "F8_E4M3", 8},
    {f8_e8m0, "F8_E8M0", 8}, {i16, "I16", 16}, {u16, "U16", 16},        {f16, "F16", 16},
    {bf16, "BF16", 16},      {i32, "I32", 32}, {u32, "U32", 32},        {f32, "F32", 32},
    {c64, "C64", 64},        {f64, "F64", 64}, {i64, "I64", 64},        {u64, "U64", 64}};

TEST(ElementTypes, HaveTheNamesAndSizesOfTheFormat) {
    for (const auto& [type, name, width] : kFacts) {
        EXPECT_EQ(to_string(type), name);
        EXPECT_EQ(bits(type), width) << name;
        EXPECT_EQ(parse_element_type(name), type) << name;
    }
}

TEST(ElementTypes, AreNamedExactly) {
    for (const auto* name : {"", "f32", "F32 ", "FLOAT32", "F8", "F8_E4M3FN", "F7", "F128"})
        EXPECT_EQ(parse_element_type(name), std::nullopt) << name;
}

TEST(ElementTypes, FillWholeBytesOrNone) {
    EXPECT_EQ(bytes_of(f32, 3), Bytes{12});
    EXPECT_EQ(bytes_of(f32, 0), Bytes{0});
    EXPECT_EQ(bytes_of(f4, 2), Bytes{1});
    EXPECT_EQ(bytes_of(f4, 3), std::nullopt);
    EXPECT_EQ(bytes_of(f6_e2m3, 4), Bytes{3});
    EXPECT_EQ(bytes_of(f6_e3m2, 3), std::nullopt);
}

TEST(ElementTypes, CountsThatOverflowHaveNoBytes) {
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(bytes_of(u64, kMost), std::nullopt);
    EXPECT_EQ(bytes_of(u64, (kMost / 64) + 1), std::nullopt);
    EXPECT_EQ(bytes_of(u64, kMost / 64), Bytes{kMost / 64 * 8});
    EXPECT_EQ(bytes_of(f4, kMost), std::nullopt);
}

}  // namespace
}  // namespace ballast
