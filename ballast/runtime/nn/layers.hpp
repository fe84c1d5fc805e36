#pragma once
// The few layers that networks are made of. A layer is a block id and its hyperparameters; it asks
// for its weights at each use and owns none.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/runtime/nn/forward.hpp"

namespace ballast::runtime::nn {

/// Resolves module paths to blocks while a network is built, and remembers what was missing, so
/// that one error can name all of it.
class Binder {
public:
    explicit Binder(const plan::BlockTable& table, std::string prefix = {})
        : table_(&table), prefix_(std::move(prefix)) {}

    /// The same table below `prefix_` + `name` + ".".
    [[nodiscard]] Binder below(std::string_view name) const;
    [[nodiscard]] std::string path(std::string_view name) const { return prefix_ + std::string(name); }
    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] const plan::Block* block(std::string_view name) const;
    /// Throws `Failure` (`corrupt_file`, naming the module) when there is no such block.
    [[nodiscard]] plan::BlockId require(std::string_view name) const;

private:
    const plan::BlockTable* table_;
    std::string prefix_;
};

/// y = x W^T + b over the last axis. W [out, in] (or [out, in, 1, 1], as 1x1 convolutions store it).
class Linear {
public:
    Linear(const Binder& binder, std::string_view name);
    at::Tensor operator()(const Forward& forward, const at::Tensor& x) const;

private:
    plan::BlockId id_;
    std::string path_;
    std::optional<std::size_t> weight_, bias_;
};

/// 2-D convolution, NCHW. W [out, in, kh, kw].
class Conv2d {
public:
    struct Shape {
        int stride = 1;
        int padding = 1;
    };
    Conv2d(const Binder& binder, std::string_view name, Shape shape);
    at::Tensor operator()(const Forward& forward, const at::Tensor& x) const;

private:
    plan::BlockId id_;
    std::string path_;
    std::optional<std::size_t> weight_, bias_;
    Shape shape_;
};

/// Group normalisation over [N, C, ...], optionally followed by SiLU in the same sweep.
class GroupNorm {
public:
    enum class Then { nothing, silu };
    GroupNorm(const Binder& binder, std::string_view name, int groups, double eps,
              Then then = Then::nothing);
    at::Tensor operator()(const Forward& forward, const at::Tensor& x) const;

private:
    plan::BlockId id_;
    std::string path_;
    std::optional<std::size_t> weight_, bias_;
    int groups_;
    double eps_;
    Then then_;
};

/// Layer normalisation over the last axis.
class LayerNorm {
public:
    LayerNorm(const Binder& binder, std::string_view name, double eps = 1e-5);
    at::Tensor operator()(const Forward& forward, const at::Tensor& x) const;

private:
    plan::BlockId id_;
    std::string path_;
    std::optional<std::size_t> weight_, bias_;
    double eps_;
};

}  // namespace ballast::runtime::nn
