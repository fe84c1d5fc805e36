#include "ballast/runtime/tensor/convolution.hpp"

#include <ATen/Parallel.h>

#include <vector>

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::ops {
namespace {

struct Window {
    std::int64_t height, width;  // of the kernel
    std::int64_t stride, padding;

    [[nodiscard]] std::int64_t positions(std::int64_t size, std::int64_t kernel) const {
        return (size + 2 * padding - kernel) / stride + 1;
    }
};

Window window_of(const at::Tensor& weight, std::int64_t stride, std::int64_t padding) {
    return {weight.size(2), weight.size(3), stride, padding};
}

/// Rows of `to`, one per output position: for each channel the values under the window, in the
/// order in which a weight stores them. `Element` is an integer of the values' size.
template <typename Element>
void gather(const at::Tensor& picture, const Window& window, std::int64_t out_height,
            std::int64_t out_width, Element* to) {
    const auto height = picture.size(2);
    const auto width = picture.size(3);
    const auto channels = picture.size(1);
    const auto taps = window.height * window.width;
    const auto* from = static_cast<const Element*>(picture.const_data_ptr());
    const std::vector<Element> zeros(static_cast<std::size_t>(channels));

    const auto rows = picture.size(0) * out_height * out_width;
    at::parallel_for(0, rows, 16, [&](std::int64_t begin, std::int64_t end) {
        std::vector<const Element*> sources(static_cast<std::size_t>(taps));
        for (auto row = begin; row < end; ++row) {
            const auto top = row / out_width % out_height * window.stride - window.padding;
            const auto left = row % out_width * window.stride - window.padding;
            const auto* image = from + row / (out_height * out_width) * height * width * channels;
            for (std::int64_t tap = 0; tap < taps; ++tap) {
                const auto y = top + tap / window.width;
                const auto x = left + tap % window.width;
                const bool is_inside = y >= 0 && y < height && x >= 0 && x < width;
                sources[static_cast<std::size_t>(tap)] =
                    is_inside ? image + (y * width + x) * channels : zeros.data();
            }
            auto* out = to + row * channels * taps;
            for (std::int64_t channel = 0; channel < channels; ++channel)
                for (const auto* source : sources) *out++ = source[channel];
        }
    });
}

}  // namespace

bool prefers_product(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride,
                     std::int64_t padding) {
    const auto size = x.element_size();
    if ((size != 4 && size != 2) || weight.size(2) * weight.size(3) == 1) return false;
    const auto window = window_of(weight, stride, padding);
    const auto positions = x.size(0) * window.positions(x.size(2), window.height) *
                           window.positions(x.size(3), window.width);
    return positions > 0 && positions <= weight.size(0);
}

at::Tensor convolve_by_product(const at::Tensor& x, const at::Tensor& weight,
                               const at::Tensor& bias, std::int64_t stride, std::int64_t padding) {
    const auto window = window_of(weight, stride, padding);
    const auto height = window.positions(x.size(2), window.height);
    const auto width = window.positions(x.size(3), window.width);
    const auto picture = x.contiguous(at::MemoryFormat::ChannelsLast);
    const auto columns = weight.numel() / weight.size(0);
    const auto rows = empty({x.size(0) * height * width, columns}, x.scalar_type());
    if (x.element_size() == 4)
        gather(picture, window, height, width,
               static_cast<std::uint32_t*>(rows.mutable_data_ptr()));
    else
        gather(picture, window, height, width,
               static_cast<std::uint16_t*>(rows.mutable_data_ptr()));
    return linear(rows, weight.view({weight.size(0), columns}), bias)
        .view({x.size(0), height, width, weight.size(0)})
        .permute({0, 3, 1, 2});
}

}  // namespace ballast::runtime::ops
