#pragma once
// The closed-form network that golden guidance and whole runs were recorded with.

#include <functional>
#include <vector>

#include "ballast/runtime/sampling/conditioning/conditioning.hpp"
#include "ballast/runtime/sampling/network.hpp"
#include "ballast/runtime/tensor/arithmetic.hpp"
#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::testing {

/// out = x / 2 + mean(context) / 5 + t / 10000, per sample. Keeps the size of every call.
class TinyNetwork final : public runtime::sampling::DiffusionNetwork {
public:
    struct Call {
        std::vector<std::int64_t> shape;
        std::int64_t tokens;
    };

    at::Tensor apply(const runtime::sampling::NetworkInput& input) override {
        using namespace runtime;  // operators
        calls.push_back({input.x.sizes().vec(), input.context.size(1)});
        const auto mean = input.context.mean(at::IntArrayRef{1, 2}).view({-1, 1, 1, 1});
        const auto time = input.timesteps.view({-1, 1, 1, 1});
        return input.x * 0.5F + mean * 0.2F + time * 0.0001F;
    }

    std::vector<Call> calls;
};

/// One entry whose embedding [1, tokens, 8] has one value throughout.
inline runtime::sampling::Conditioning text_of(double value, std::int64_t tokens = 4) {
    runtime::sampling::ConditioningEntry entry;
    entry.embedding = runtime::ops::full({1, tokens, 8}, value, at::kFloat);
    return {entry};
}

}  // namespace ballast::testing
