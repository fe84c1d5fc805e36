#include "ballast/runtime/image/resample.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "tests/support/golden_tensors.hpp"

namespace ballast::runtime::image {

void PrintTo(const Size& size, std::ostream* out) { *out << size.width << " x " << size.height; }

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> parts_of(std::string_view name) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= name.size();) {
        const auto end = std::min(name.find('.', at), name.size());
        parts.emplace_back(name.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

/// Largest difference; infinite if the shapes differ.
double distance(const at::Tensor& a, const at::Tensor& b) {
    if (a.sizes() != b.sizes()) return INFINITY;
    double largest = 0;
    for (std::int64_t i = 0; i < a.numel(); ++i)
        largest = std::max(largest, std::fabs(double{a.const_data_ptr<float>()[i]} -
                                              b.const_data_ptr<float>()[i]));
    return largest;
}

class Resample : public ::testing::TestWithParam<const char*> {};

TEST_P(Resample, EqualsTheReference) {
    const testing::GoldenTensors golden(BALLAST_TEST_DATA "/golden/images/resample.safetensors");
    const std::string method = GetParam();
    std::size_t cases = 0;
    for (const auto& entry : golden.directory().entries()) {
        const auto parts = parts_of(entry.name);  // source, method, crop, size
        if (parts.size() != 4 || parts[1] != method) continue;
        SCOPED_TRACE(entry.name);
        const auto expected = golden[entry.name];
        const Size size{expected.size(3), expected.size(2)};
        const auto result = resample(golden[parts[0]], size, parse_method(method).value(),
                                     parse_crop(parts[2]).value());
        // bytes, if they differ, differ by a 255th; directions amplify rounding
        EXPECT_LE(distance(result.contiguous(), expected), method == "bislerp" ? 1e-4 : 2e-6);
        ++cases;
    }
    EXPECT_GE(cases, 10U);
}

INSTANTIATE_TEST_SUITE_P(Methods, Resample,
                         ::testing::Values("nearest-exact", "bilinear", "area", "bicubic",
                                           "lanczos", "bislerp"));

TEST(ResampleSize, FollowsTheAspectWhereASideIsZero) {
    EXPECT_EQ(intended_size({0, 0}, {640, 480}, 1), (Size{640, 480}));
    EXPECT_EQ(intended_size({320, 0}, {640, 480}, 1), (Size{320, 240}));
    EXPECT_EQ(intended_size({0, 120}, {640, 480}, 1), (Size{160, 120}));
    EXPECT_EQ(intended_size({100, 50}, {640, 480}, 1), (Size{100, 50}));
    EXPECT_EQ(intended_size({5, 0}, {2, 1}, 1), (Size{5, 2}));  // half to even
    EXPECT_EQ(intended_size({1, 0}, {1000, 1}, 1), (Size{1, 1}));
}

TEST(ResampleSize, IsAtLeastWhatIsAskedFor) {
    EXPECT_EQ(intended_size({8, 16}, {80, 60}, 64), (Size{64, 64}));
    EXPECT_EQ(intended_size({0, 8}, {80, 40}, 64), (Size{128, 64}));
    EXPECT_EQ(intended_size({0, 0}, {8, 8}, 64), (Size{8, 8}));
}

TEST(ResampleErrors, RefuseSizesWithoutPixelsAndHugeOnes) {
    const auto refused = [](Size size) {
        try {
            (void)resample(ops::zeros({1, 3, 4, 4}, at::kFloat), size, Method::bilinear,
                           Crop::disabled);
            return Code::internal;
        } catch (const Failure& failure) {
            return failure.error().code;
        }
    };
    EXPECT_EQ(refused({0, 5}), Code::bad_value);
    EXPECT_EQ(refused({5, -1}), Code::bad_value);
    EXPECT_EQ(refused({1 << 21, 1}), Code::bad_value);
    EXPECT_EQ(refused({1 << 20, 1 << 20}), Code::bad_value);
    EXPECT_THROW(resample(ops::zeros({3, 4, 4}, at::kFloat), {2, 2}, Method::area, Crop::disabled),
                 Failure);
}

TEST(ResampleErrors, NoExtremeAspectLeavesNothing) {
    const auto strip = ops::full({1, 3, 1, 100}, 0.5, at::kFloat);
    const auto result = resample(strip, {1, 100}, Method::nearest_exact, Crop::center);
    EXPECT_THAT(result.sizes().vec(), ElementsAre(1, 3, 100, 1));
}

TEST(ResampleNames, AreThoseOfTheNodes) {
    EXPECT_EQ(parse_method("nearest-exact"), Method::nearest_exact);
    EXPECT_EQ(parse_method("cubic"), std::nullopt);
    EXPECT_EQ(parse_crop("center"), Crop::center);
    EXPECT_EQ(parse_crop(""), std::nullopt);
}

}  // namespace
}  // namespace ballast::runtime::image
