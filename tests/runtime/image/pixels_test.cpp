#include "ballast/runtime/image/pixels.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "ballast/runtime/tensor/failure.hpp"
#include "ballast/runtime/tensor/ops.hpp"
#include "tests/runtime/image/pictures.hpp"

namespace ballast::runtime::image {
namespace {

using ::testing::ElementsAre;

TEST(Pixels, BecomeBytesByTheReferencesRule) {
    const auto rule = nlohmann::json::parse(golden("api/png.json"))["pixel_rule"];
    ASSERT_GE(rule["pairs"].size(), 20U);
    for (const auto& pair : rule["pairs"]) {
        const auto picture = ops::full({1, 1, 3}, pair[0].get<double>(), at::kFloat);
        EXPECT_EQ(to_raster(picture).bytes.front(), pair[1].get<std::uint8_t>()) << pair;
    }
}

TEST(Pixels, ThatAreNoNumbersBecomeBlack) {
    const auto nan = std::numeric_limits<float>::quiet_NaN();
    const auto inf = std::numeric_limits<float>::infinity();
    const auto picture = ops::from_floats({nan, inf, -inf}).view({1, 1, 3});
    EXPECT_THAT(to_raster(picture).bytes, ElementsAre(0, 255, 0));
}

TEST(Pixels, KeepTheirOrderAndDropFurtherChannels) {
    const auto picture = ops::from_floats({0.0F, 0.25F, 0.5F, 9.0F, 1.0F, 0.0F, 1.0F, 9.0F});
    const auto raster = to_raster(picture.view({1, 2, 4}));
    EXPECT_EQ(raster.width, 2U);
    EXPECT_EQ(raster.height, 1U);
    EXPECT_THAT(raster.bytes, ElementsAre(0, 63, 127, 255, 0, 255));
    EXPECT_THROW(to_raster(picture), Failure);
}

TEST(Pixels, GoBackToTensorsWithAMask) {
    const auto raster = pattern(5, 3, 4);
    const auto image = image_of(raster);
    const auto mask = mask_of(raster);
    EXPECT_THAT(image.sizes().vec(), ElementsAre(1, 3, 5, 3));
    EXPECT_THAT(mask.sizes().vec(), ElementsAre(1, 3, 5));
    const auto* pixel = raster.row(2) + 4 * 4;
    EXPECT_EQ((image.accessor<float, 4>()[0][2][4][1]), static_cast<float>(pixel[1]) / 255.0F);
    EXPECT_EQ((mask.accessor<float, 3>()[0][2][4]), 1.0F - static_cast<float>(pixel[3]) / 255.0F);
}

TEST(Pixels, WithoutAlphaHaveAPlaceholderForAMask) {
    const auto mask = mask_of(pattern(5, 3));
    EXPECT_THAT(mask.sizes().vec(), ElementsAre(1, 64, 64));
    EXPECT_EQ((mask.accessor<float, 3>()[0][63][63]), 0.0F);
}

}  // namespace
}  // namespace ballast::runtime::image
