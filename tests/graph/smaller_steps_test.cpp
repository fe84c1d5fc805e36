#include "ballast/graph/smaller_steps.hpp"

#include <gmock/gmock.h>

namespace ballast::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::int64_t> sides(const std::vector<Extent>& extents) {
    std::vector<std::int64_t> list;
    for (const auto& extent : extents) list.push_back(extent.tiles ? extent.tiles->side : 0);
    return list;
}

TEST(SmallerSteps, OfANetworkHaveOneTextAtATime) {
    const models::StepShape both{.batch = 4, .height = 32, .width = 16, .sides = 2};
    auto one = both;
    one.sides = 1;
    EXPECT_THAT(smaller_network_steps(both),
                ElementsAre(SmallerStep{.how = kOneTextAtATime, .shape = one}))
        << "all pictures stay in one call";
    EXPECT_THAT(smaller_network_steps(one), IsEmpty());
}

TEST(SmallerSteps, OfAWholePictureAreTilesThatCutIt) {
    EXPECT_THAT(sides(whole_or_tiles(65, 8)), ElementsAre(0, 64));
    EXPECT_THAT(sides(whole_or_tiles(64, 64)), ElementsAre(0));
    const models::StepShape wide{.batch = 2, .height = 40, .width = 200};
    auto cut = wide;
    // squares of 64 cut to 40 x 64 are smaller than the wide tiles of a second pass
    cut.height = 32;
    cut.width = 128;
    EXPECT_THAT(smaller_autoencoder_steps(wide, whole_or_tiles(40, 200)),
                ElementsAre(SmallerStep{.how = "in tiles", .shape = cut}));
}

TEST(SmallerSteps, OfTilesAreHalfAndAQuarterOfThem) {
    EXPECT_THAT(smaller_and_smaller({.side = 64, .overlap = 8}, 128, 128),
                ElementsAre(Extent{"in tiles", Tiles{64, 8}},
                            Extent{"in tiles of 32 latent cells", Tiles{32, 4}},
                            Extent{"in tiles of 16 latent cells", Tiles{16, 2}}));
    EXPECT_THAT(sides(smaller_and_smaller({.side = 64}, 16, 32)), ElementsAre(64, 16))
        << "32 would not cut it";
    EXPECT_THAT(sides(smaller_and_smaller({.side = 20}, 99, 99)), ElementsAre(20, 10));
}

}  // namespace
}  // namespace ballast::graph
