#include "ballast/runtime/nn/layers.hpp"

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::nn {

Binder Binder::below(std::string_view name) const { return Binder(*table_, path(name) + "."); }

std::string Binder::path(std::string_view name) const { return prefix_ + std::string(name); }

bool Binder::has(std::string_view name) const { return table_->find(path(name)).has_value(); }

plan::BlockId Binder::require(std::string_view name) const {
    if (const auto id = table_->find(path(name))) return *id;
    throw Failure(Error{.code = Code::corrupt_file,
                        .what = "the model is incomplete",
                        .why = "a layer is missing",
                        .place = {.key = path(name)},
                        .hint = "fetch the file again"});
}

Parameters::Parameters(const Binder& binder, std::string_view name)
    : block_(binder.require(name)), path_(binder.path(name)) {
    const auto& tensors = binder.table()[block_].tensors;
    std::optional<std::size_t> weight;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i].name.ends_with(".weight")) weight = i;
        if (tensors[i].name.ends_with(".bias")) bias_ = i;
    }
    if (!weight) {
        throw Failure(Error{.code = Code::corrupt_file,
                            .what = "the model is incomplete",
                            .why = "a layer has no weight",
                            .place = {.key = path_},
                            .hint = "fetch the file again"});
    }
    weight_ = *weight;
}

at::Tensor Linear::operator()(const Forward& forward, const at::Tensor& x) const {
    const auto layer = forward.pin(parameters_.block());
    auto weight = parameters_.weight(layer);
    if (weight.dim() != 2) weight = weight.reshape({weight.size(0), weight.size(1)});
    auto y = ops::linear(x, weight, parameters_.bias(layer));
    forward.emit(parameters_.path(), y);
    return y;
}

at::Tensor Conv2d::operator()(const Forward& forward, const at::Tensor& x) const {
    const auto layer = forward.pin(parameters_.block());
    auto weight = parameters_.weight(layer);
    if (weight.dim() == 2) weight = weight.reshape({weight.size(0), weight.size(1), 1, 1});
    auto y = ops::conv2d(x, weight, parameters_.bias(layer), shape_.stride, shape_.padding);
    forward.emit(parameters_.path(), y);
    return y;
}

at::Tensor GroupNorm::operator()(const Forward& forward, const at::Tensor& x) const {
    const auto layer = forward.pin(parameters_.block());
    auto y = ops::group_norm(x, groups_, parameters_.weight(layer), parameters_.bias(layer), eps_);
    forward.emit(parameters_.path(), y);
    if (then_ == Then::silu) ops::silu_(y);
    return y;
}

at::Tensor LayerNorm::operator()(const Forward& forward, const at::Tensor& x) const {
    const auto layer = forward.pin(parameters_.block());
    auto y = ops::layer_norm(x, parameters_.weight(layer), parameters_.bias(layer), eps_);
    forward.emit(parameters_.path(), y);
    return y;
}

}  // namespace ballast::runtime::nn
