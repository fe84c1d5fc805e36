#pragma once
// Which number format a part computes in, from what the user asked and what the device can do.

#include <ATen/core/Tensor.h>

#include "ballast/graph/runtime.hpp"
#include "ballast/runtime/nodes/implementation.hpp"

namespace ballast::runtime::nodes {

/// On a CPU: fp32, unless bf16 is asked for. fp16 is computed in fp32, with a warning: CPUs have
/// no fast fp16 arithmetic, and it would take a hundred times as long.
at::ScalarType compute_type(graph::ComputeType asked, const char* part, const Context& context);

}  // namespace ballast::runtime::nodes
