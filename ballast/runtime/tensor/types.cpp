#include "ballast/runtime/tensor/types.hpp"

#include <ATen/ops/from_blob.h>

namespace ballast::runtime {

at::ScalarType scalar_type(ElementType type) {
    switch (type) {
        case ElementType::boolean: return at::kBool;
        case ElementType::u8: return at::kByte;
        case ElementType::i8: return at::kChar;
        case ElementType::f8_e5m2: return at::kFloat8_e5m2;
        case ElementType::f8_e4m3: return at::kFloat8_e4m3fn;
        case ElementType::i16: return at::kShort;
        case ElementType::f16: return at::kHalf;
        case ElementType::bf16: return at::kBFloat16;
        case ElementType::i32: return at::kInt;
        case ElementType::f32: return at::kFloat;
        case ElementType::f64: return at::kDouble;
        case ElementType::i64: return at::kLong;
        case ElementType::u16: return at::kUInt16;
        case ElementType::u32: return at::kUInt32;
        case ElementType::u64: return at::kUInt64;
        case ElementType::c64: return at::kComplexFloat;
        case ElementType::f4:
        case ElementType::f6_e2m3:
        case ElementType::f6_e3m2:
        case ElementType::f8_e8m0: break;
    }
    throw Failure(Error{.code = Code::unsupported,
                        .what = "cannot compute with a tensor",
                        .why = "its number format is " + std::string(to_string(type)),
                        .hint = "use a file in fp16, bf16 or fp32"});
}

at::Tensor view_of(std::span<const std::byte> bytes, at::ScalarType type, at::IntArrayRef shape) {
    // torch has no read-only tensors; nothing of ours writes to a pinned weight
    auto* data =
        const_cast<std::byte*>(bytes.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    return at::from_blob(data, shape, at::TensorOptions(type));
}

at::Tensor view_of(std::span<std::byte> bytes, at::ScalarType type, at::IntArrayRef shape) {
    return at::from_blob(bytes.data(), shape, at::TensorOptions(type));
}

}  // namespace ballast::runtime
