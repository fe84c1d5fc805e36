#include "ballast/runtime/tensor/convolution.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/runtime/tensor/ops.hpp"

namespace ballast::runtime::ops {
namespace {

/// Values that differ from place to place.
at::Tensor pattern(at::IntArrayRef shape, double step) {
    std::int64_t count = 1;
    for (const auto size : shape) count *= size;
    return sin(range(count).mul(step)).reshape(shape);
}

/// The definition: one output position after the other.
at::Tensor by_definition(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                         std::int64_t stride, std::int64_t padding) {
    const auto padded = pad(x, {padding, padding, padding, padding});
    const auto kernel = weight.size(2);
    std::vector<at::Tensor> rows;
    for (std::int64_t y = 0; y + kernel <= padded.size(2); y += stride) {
        std::vector<at::Tensor> row;
        for (std::int64_t c = 0; c + kernel <= padded.size(3); c += stride) {
            const auto window = padded.narrow(2, y, kernel).narrow(3, c, kernel).unsqueeze(1);
            auto sum = window.mul(weight.unsqueeze(0)).sum({2, 3, 4});
            row.push_back(bias.defined() ? sum.add(bias) : sum);
        }
        rows.push_back(stack(row, -1));
    }
    return stack(rows, 2);
}

double difference(const at::Tensor& a, const at::Tensor& b) {
    return a.to(at::kDouble).sub(b.to(at::kDouble)).abs().max().item<double>();
}

TEST(ConvolutionByProduct, FollowsTheDefinition) {
    const auto weight = pattern({7, 5, 3, 3}, 0.7);
    const auto bias = pattern({7}, 1.3);
    for (const auto& size : {std::pair{1, 1}, {2, 3}, {5, 4}, {8, 8}}) {
        const auto x = pattern({2, 5, size.first, size.second}, 0.31);
        for (const std::int64_t stride : {1, 2}) {
            const auto y = convolve_by_product(x, weight, bias, stride, 1);
            EXPECT_LT(difference(y, by_definition(x, weight, bias, stride, 1)), 1e-5);
            EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
        }
    }
}

TEST(ConvolutionByProduct, TakesAnyMemoryOrderAndNoBias) {
    const auto weight = pattern({4, 3, 3, 3}, 0.7);
    const auto x = pattern({2, 3, 6, 5}, 0.31);
    const auto expected = by_definition(x, weight, {}, 1, 0);
    EXPECT_LT(difference(convolve_by_product(x, weight, {}, 1, 0), expected), 1e-5);
    const auto other_order = x.contiguous(at::MemoryFormat::ChannelsLast);
    EXPECT_TRUE(convolve_by_product(x, weight, {}, 1, 0)
                    .equal(convolve_by_product(other_order, weight, {}, 1, 0)));
}

TEST(ConvolutionByProduct, WorksInBf16) {
    const auto weight = pattern({8, 4, 3, 3}, 0.7);
    const auto x = pattern({1, 4, 4, 4}, 0.31);
    const auto y = convolve_by_product(x.to(at::kBFloat16), weight.to(at::kBFloat16), {}, 1, 1);
    EXPECT_EQ(y.scalar_type(), at::kBFloat16);
    EXPECT_LT(difference(y, by_definition(x, weight, {}, 1, 1)), 0.1);
}

TEST(ConvolutionByProduct, IsPreferredForFewPositionsOnly) {
    const auto weight = zeros({16, 8, 3, 3}, at::kFloat);
    EXPECT_TRUE(prefers_product(zeros({1, 8, 4, 4}, at::kFloat), weight, 1, 1));
    EXPECT_FALSE(prefers_product(zeros({2, 8, 4, 4}, at::kFloat), weight, 1, 1));
    EXPECT_TRUE(prefers_product(zeros({1, 8, 8, 8}, at::kFloat), weight, 2, 1));
    const auto pointwise = zeros({16, 8, 1, 1}, at::kFloat);
    EXPECT_FALSE(prefers_product(zeros({1, 8, 4, 4}, at::kFloat), pointwise, 1, 0));
}

TEST(Conv2d, GivesTheSameInEveryWay) {
    const auto bias = pattern({6}, 1.3);
    // a window larger than a point, and a point, each with few and with many positions
    for (const std::int64_t kernel : {1, 3}) {
        const auto weight = pattern({6, 4, kernel, kernel}, 0.7);
        for (const std::int64_t side : {2, 9}) {
            const auto x = pattern({1, 4, side, side}, 0.31);
            const auto expected = by_definition(x, weight, bias, 1, kernel / 2);
            EXPECT_LT(difference(conv2d(x, weight, bias, 1, kernel / 2), expected), 1e-5);
            const auto last = x.contiguous(at::MemoryFormat::ChannelsLast);
            EXPECT_LT(difference(conv2d(last, weight, bias, 1, kernel / 2), expected), 1e-5);
        }
    }
}

/// The definition: x times the share of a normal distribution that lies below x.
at::Tensor gelu_by_definition(const at::Tensor& x) {
    auto result = x.clone(at::MemoryFormat::Contiguous);
    auto* values = result.mutable_data_ptr<float>();
    for (std::int64_t i = 0; i < result.numel(); ++i)
        values[i] *= 0.5F * (1.0F + std::erf(values[i] / std::sqrt(2.0F)));
    return result;
}

TEST(GatedGelu, MultipliesValuesWithTheGeluOfTheirGates) {
    const auto x = pattern({3, 2, 10}, 0.9);
    const auto expected = x.narrow(-1, 0, 5).mul(gelu_by_definition(x.narrow(-1, 5, 5)));
    auto both = x.clone();
    const auto gated = gated_gelu(both);
    EXPECT_EQ(gated.sizes(), expected.sizes());
    EXPECT_LT(difference(gated, expected), 1e-6);
    EXPECT_EQ(gated.const_data_ptr(), both.const_data_ptr());
}

}  // namespace
}  // namespace ballast::runtime::ops
