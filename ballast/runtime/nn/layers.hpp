#pragma once
// The few layers that networks are made of. A layer is a block id and its hyperparameters; it asks
// for its weights at each use and owns none.
//
// Pictures are [N, C, H, W] by shape. Networks keep them channels-last in memory: convolutions then
// need no reordered copies, and a picture is a row of tokens [N, H*W, C] without moving a byte.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ballast/runtime/nn/forward.hpp"

namespace ballast::runtime::nn {

/// Resolves module paths to blocks while a network is built.
class Binder {
public:
    explicit Binder(const plan::BlockTable& table, std::string prefix = {})
        : table_(&table), prefix_(std::move(prefix)) {}

    /// The same table below `name`: "a" makes "a.b" reachable as "b".
    [[nodiscard]] Binder below(std::string_view name) const;
    [[nodiscard]] std::string path(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] const plan::BlockTable& table() const { return *table_; }
    /// Throws `Failure` (`corrupt_file`, naming the module) when there is no such block.
    [[nodiscard]] plan::BlockId require(std::string_view name) const;

private:
    const plan::BlockTable* table_;
    std::string prefix_;
};

/// Where a layer's weight and bias stand in its block.
class Parameters {
public:
    Parameters(const Binder& binder, std::string_view name);

    [[nodiscard]] plan::BlockId block() const { return block_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const at::Tensor& weight(const PinnedLayer& layer) const {
        return layer[weight_];
    }
    /// Undefined if the layer has none.
    [[nodiscard]] at::Tensor bias(const PinnedLayer& layer) const {
        return bias_ ? layer[*bias_] : at::Tensor{};
    }
    [[nodiscard]] std::size_t weight_index() const { return weight_; }

private:
    plan::BlockId block_;
    std::string path_;
    std::size_t weight_ = 0;
    std::optional<std::size_t> bias_;
};

/// `x` [N, C, H, W] in channels-last order, copied only if it is not in that order yet.
inline at::Tensor channels_last(const at::Tensor& x) {
    return x.contiguous(at::MemoryFormat::ChannelsLast);
}

/// y = x W^T + b over the last axis. W [out, in], or [out, in, 1, 1] as 1x1 convolutions store it.
class Linear {
public:
    Linear(const Binder& binder, std::string_view name) : parameters_(binder, name) {}
    at::Tensor operator()(const Forward& forward, const at::Tensor& x) const;

private:
    Parameters parameters_;
};

/// 2-D convolution, [N, C, H, W]. W [out, in, kh, kw], or [out, in] for a 1x1 convolution.
class Conv2d {
public:
    struct Shape {
        std::int64_t stride = 1;
        std::int64_t padding = 1;
    };
    Conv2d(const Binder& binder, std::string_view name, Shape shape)
        : parameters_(binder, name), shape_(shape) {}
    at::Tensor operator()(const Forward& forward, const at::Tensor& x) const;

private:
    Parameters parameters_;
    Shape shape_;
};

/// Group normalisation over [N, C, ...], optionally followed by SiLU.
class GroupNorm {
public:
    enum class Then { nothing, silu };
    GroupNorm(const Binder& binder, std::string_view name, std::int64_t groups, double eps,
              Then then = Then::nothing)
        : parameters_(binder, name), groups_(groups), eps_(eps), then_(then) {}
    at::Tensor operator()(const Forward& forward, const at::Tensor& x) const;

private:
    Parameters parameters_;
    std::int64_t groups_;
    double eps_;
    Then then_;
};

/// Layer normalisation over the last axis.
class LayerNorm {
public:
    LayerNorm(const Binder& binder, std::string_view name, double eps = 1e-5)
        : parameters_(binder, name), eps_(eps) {}
    at::Tensor operator()(const Forward& forward, const at::Tensor& x) const;

private:
    Parameters parameters_;
    double eps_;
};

}  // namespace ballast::runtime::nn
