#pragma once
// One forward pass of a network: where weights come from, when to stop, who listens.

#include <ATen/core/Tensor.h>

#include <string_view>

#include "ballast/runtime/tensor/weight_source.hpp"

namespace ballast::runtime::nn {

/// Receives the output of every named module, for golden tests and for finding the first layer
/// whose output is not finite.
class LayerListener {
public:
    LayerListener() = default;
    LayerListener(const LayerListener&) = delete;
    LayerListener& operator=(const LayerListener&) = delete;
    virtual ~LayerListener() = default;
    /// `module` is the module path without the model's prefix, as in the weight names.
    virtual void on_output(std::string_view module, const at::Tensor& output) = 0;
};

/// Asked at each layer boundary whether the pass shall end. Answers from any state, cheaply.
class StopCheck {
public:
    StopCheck() = default;
    StopCheck(const StopCheck&) = delete;
    StopCheck& operator=(const StopCheck&) = delete;
    virtual ~StopCheck() = default;
    [[nodiscard]] virtual bool stop_requested() const = 0;
};

/// `x` as networks give their results: fp32 on the processor; x itself if it is that already.
inline at::Tensor to_host(const at::Tensor& x) { return x.to(at::kCPU, at::kFloat); }

class Forward {
public:
    explicit Forward(const WeightSource& weights, const StopCheck* stop = nullptr,
                     LayerListener* listener = nullptr)
        : weights_(&weights), stop_(stop), listener_(listener) {}

    [[nodiscard]] at::ScalarType compute_type() const { return weights_->compute_type(); }
    /// `x` in the compute type where the arithmetic runs; x itself if it is that already.
    [[nodiscard]] at::Tensor to_compute(const at::Tensor& x) const {
        return x.to(weights_->device(), weights_->compute_type());
    }

    /// The layer boundary: throws `Failure` (`interrupted`) once a stop was requested.
    [[nodiscard]] PinnedLayer pin(plan::BlockId id) const {
        check_stop();
        return weights_->pin(id);
    }
    [[nodiscard]] const WeightSource& weights() const { return *weights_; }
    void check_stop() const;

    /// Tells the listener, if there is one.
    void emit(std::string_view module, const at::Tensor& output) const {
        if (listener_ != nullptr) listener_->on_output(module, output);
    }

private:
    const WeightSource* weights_;
    const StopCheck* stop_;
    LayerListener* listener_;
};

}  // namespace ballast::runtime::nn
