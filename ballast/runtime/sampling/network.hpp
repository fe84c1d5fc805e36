#pragma once
// The diffusion network as sampling sees it.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace ballast::runtime::sampling {

/// One call: several entries of both sides, batched.
struct NetworkInput {
    at::Tensor x;          ///< [n * B, C, h, w], fp32, scaled as the prediction type demands
    at::Tensor timesteps;  ///< [n * B], fp32
    at::Tensor context;    ///< [n * B, tokens, width], fp32
};

/// Implemented over the real networks by the nodes, and by closed formulas in tests. Called by one
/// thread.
class DiffusionNetwork {
public:
    DiffusionNetwork() = default;
    DiffusionNetwork(const DiffusionNetwork&) = delete;
    DiffusionNetwork& operator=(const DiffusionNetwork&) = delete;
    virtual ~DiffusionNetwork() = default;

    /// The prediction, of x's shape. May throw `Failure`.
    virtual at::Tensor apply(const NetworkInput& input) = 0;
};

/// The size of a call, for the question whether it fits into memory.
struct CallSize {
    std::int64_t batch = 1;
    std::int64_t channels = 4;
    std::int64_t height = 64;
    std::int64_t width = 64;
    std::int64_t tokens = 77;
};

/// True if a call of that size fits beside everything else now.
using FitsInMemory = std::function<bool(const CallSize&)>;

}  // namespace ballast::runtime::sampling
