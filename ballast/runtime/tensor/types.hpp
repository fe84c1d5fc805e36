#pragma once
// Our number formats as torch's, and tensors over bytes that we own.

#include <ATen/core/Tensor.h>

#include <span>

#include "ballast/engine/core/element_type.hpp"
#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime {

/// Throws `Failure` (`unsupported`) for formats that torch has no scalar type for.
at::ScalarType scalar_type(ElementType type);

/// A tensor over `bytes`, which must outlive it and every view of it. Never written to.
at::Tensor view_of(std::span<const std::byte> bytes, at::ScalarType type, at::IntArrayRef shape);

/// A tensor over writable `bytes`, which must outlive it and every view of it.
at::Tensor view_of(std::span<std::byte> bytes, at::ScalarType type, at::IntArrayRef shape);

}  // namespace ballast::runtime
