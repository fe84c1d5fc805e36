#include "ballast/models/tracing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ballast::models {
namespace {

using plan::WideBytes;

constexpr std::uint64_t kNormFlops = 8;

std::uint64_t saturated(WideBytes value) {
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    return value > kMost ? kMost : static_cast<std::uint64_t>(value);
}

/// Positions of the window along an axis of `size` cells.
std::uint64_t positions_along(std::uint64_t size, const ConvolutionWindow& window) {
    const auto padded = size + 2 * window.padding;
    return padded < window.size ? 0 : (padded - window.size) / window.stride + 1;
}

}  // namespace

Tracer::Tracer(const plan::BlockTable& table, std::int64_t element_bytes)
    : table_(table), element_bytes_(size(element_bytes)) {
    costs_.blocks.resize(table.blocks().size());
}

TracedTensor Tracer::tensor(const Extent& extent, std::uint64_t element_bytes) {
    TracedTensor made;
    made.extent_ = extent;
    made.memory_ =
        std::make_shared<TracedTensor::Memory>(account_, extent.elements() * element_bytes);
    return made;
}

TracedTensor Tracer::from_fp32(const TracedTensor& x) {
    return element_bytes_ == 4 ? x : tensor(x.extent());
}

TracedTensor Tracer::to_fp32(const TracedTensor& x) {
    return element_bytes_ == 4 ? x : fp32(x.extent());
}

TracedTensor Tracer::convolution(std::string_view block, const TracedTensor& x, std::uint64_t out,
                                 const ConvolutionWindow& window) {
    const Extent to{.rows = x.extent().rows,
                    .channels = out,
                    .height = positions_along(x.extent().height, window),
                    .width = positions_along(x.extent().width, window)};
    const auto taps = static_cast<WideBytes>(x.channels()) * window.size * window.size;
    TracedTensor y;
    {
        const auto copies = std::min(to.positions(), static_cast<WideBytes>(out));
        const TracedTensor::Memory scratch(account_, copies * taps * element_bytes_);
        y = tensor(to);
    }
    end_block(block, 2 * taps * to.elements());
    return y;
}

TracedTensor Tracer::linear(std::string_view block, const TracedTensor& x, std::uint64_t out) {
    auto to = x.extent();
    to.channels = out;
    auto y = tensor(to);
    end_block(block, 2 * to.elements() * x.channels());
    return y;
}

TracedTensor Tracer::norm(std::string_view block, const TracedTensor& x) {
    auto y = tensor(x.extent());
    end_block(block, kNormFlops * x.extent().elements());
    return y;
}

TracedTensor Tracer::lookup(std::string_view block, const Extent& extent) {
    auto y = tensor(extent);
    end_block(block, 0);
    return y;
}

TracedTensor Tracer::attention(const TracedTensor& q, const TracedTensor& k, const TracedTensor& v,
                               std::uint64_t heads) {
    auto mixed = tensor(q.extent());
    const TracedTensor::Memory sums(account_, q.extent().positions() * heads * 4);
    const auto pairs = q.extent().positions() * k.extent().height * k.extent().width;
    pending_flops_ += 2 * pairs * (q.channels() + v.channels());
    return mixed;
}

TracedTensor Tracer::joined(const TracedTensor& a, const TracedTensor& b) {
    auto extent = a.extent();
    extent.channels += b.channels();
    return tensor(extent);
}

TracedTensor Tracer::resized(const TracedTensor& x, std::uint64_t height, std::uint64_t width) {
    auto extent = x.extent();
    extent.height = height;
    extent.width = width;
    return tensor(extent);
}

void Tracer::end_block(std::string_view name, WideBytes flops) {
    const auto id = table_.find(name);
    if (!id) {
        if (missing_.empty()) missing_ = name;
        return;
    }
    last_ = id->index;
    auto& cost = costs_.blocks[last_];
    cost.flops = saturated(flops + pending_flops_ + cost.flops);
    pending_flops_ = 0;
    cost.activation_bytes = std::max(cost.activation_bytes, plan::to_bytes(account_.take_most()));
}

Result<StepCosts> Tracer::costs() {
    if (!missing_.empty())
        return fail({.code = Code::bad_value,
                     .what = "cannot tell what a step costs",
                     .why = "the blocks are of another model than the configuration",
                     .place = {.key = missing_},
                     .hint = "describe both from one file"});
    if (!costs_.blocks.empty()) {
        auto& last = costs_.blocks[last_];
        last.activation_bytes =
            std::max(last.activation_bytes, plan::to_bytes(account_.take_most()));
    }
    for (const auto& block : costs_.blocks)
        costs_.peak_activation_bytes =
            std::max(costs_.peak_activation_bytes, block.activation_bytes);
    return costs_;
}

}  // namespace ballast::models
