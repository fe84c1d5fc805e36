#include "ballast/runtime/nodes/compute_types.hpp"

#include <string>

namespace ballast::runtime::nodes {

at::ScalarType compute_type(graph::ComputeType asked, const char* part, const Context& context) {
    switch (asked) {
        case graph::ComputeType::bf16: return at::kBFloat16;
        case graph::ComputeType::fp16:
            context.observer.warning(std::string("the ") + part +
                                     " computes in fp32: fp16 arithmetic is slow on a CPU");
            return at::kFloat;
        case graph::ComputeType::automatic:
        case graph::ComputeType::fp32: break;
    }
    return at::kFloat;
}

}  // namespace ballast::runtime::nodes
