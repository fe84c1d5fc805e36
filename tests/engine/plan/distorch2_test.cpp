#include "ballast/engine/plan/distorch2.hpp"

#include <gtest/gtest.h>

#include "tests/engine/plan/models.hpp"

namespace ballast::plan {
namespace {

using namespace testing;

Result<Distorch2Placement> made_of(const std::string& text,
                                   const AllocationContext& context = system_a(),
                                   std::vector<PlacementBlock> blocks = model_1()) {
    return place_like_distorch2({.blocks = std::move(blocks), .text = text, .machine = context});
}

std::string fractions(const std::string& text, const AllocationContext& context = system_a()) {
    const auto made = made_of(text, context);
    return made ? made->fractions : to_string(made.error());
}

TEST(Distorch2, PrintsFractionsOfFourDecimals) {
    EXPECT_EQ(fractions("cuda:0,2.5gb;cuda:1,3.0g;cpu,*#cuda:0"),
              "cuda:0,0.1042;cuda:1,0.1250;cpu,0.0703");
    EXPECT_EQ(fractions("#cuda:0;6.0;cuda:1,cpu", system_t()),
              "cuda:0,0.1667;cuda:1,1.0000;cpu,0.0312")
        << "2/64 lies between 0.0312 and 0.0313; the even one is taken";
    EXPECT_EQ(fractions("cuda:0,3gb;cpu,*#cuda:1", system_b()),
              "cuda:0,0.1273;cpu,0.0745;cuda:1,0.0");
    EXPECT_EQ(fractions("cuda:0,0.1;cpu,0.5#cuda:0"), "cuda:0,0.1;cpu,0.5;cuda:1,0.0");
    EXPECT_EQ(fractions("cuda:0,8gb;cuda:1,8gb;cpu,*"), "cuda:0,0.3333;cuda:1,0.0833;cpu,0.0");
}

TEST(Distorch2, ReadsNumbersByTheirBeginning) {
    const std::string nothing = "cuda:0,0.0000;cpu,0.1562;cuda:1,0.0";
    for (const auto& amount : {"1e3gb", "2tb", "2,5gb", "3"})
        EXPECT_EQ(fractions(std::string("cuda:0,") + amount + ";cpu,*mb"), nothing) << amount;
    EXPECT_EQ(fractions("cuda:0,5gbxyz;cpu,*"), fractions("cuda:0,5gb;cpu,*"));
    EXPECT_EQ(fractions("cuda:0;cuda:1,5gb;cpu,*"), fractions("cuda:1,5gb;cpu,*"));
    EXPECT_EQ(fractions("cuda:0,5gb;cpu,1gb*"), fractions("cuda:0,5gb;cpu,*"));
}

TEST(Distorch2, RaisesWhereTheOriginalDoes) {
    for (const auto& text :
         {"cuda:0,50%;cpu,*", "cuda:0,0.5;cpu,*", "cuda:0,0%;cpu,0%", "cuda:0,.5gb;cpu,*",
          "cuda:0,-2gb;cpu,*", "cuda:7,2gb;cpu,*", "cuda:0, 2gb; cpu,*", "#cuda:0;x;cpu",
          "#cuda:0;4;", "#cuda:0", "", "#cuda:7;4;cpu"}) {
        const auto made = made_of(text);
        ASSERT_FALSE(made.has_value()) << text;
        EXPECT_EQ(made.error().code, Code::usage);
        EXPECT_FALSE(made.error().why.empty());
    }
}

TEST(Distorch2, OrphansGoToTheComputeDeviceWhateverItsQuota) {
    const auto made = made_of("cuda:0,0.1;cuda:1,0.05#cuda:1");
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(std::count(made->orphans.begin(), made->orphans.end(), true), 7);
    EXPECT_EQ(made->per_device.at(cuda(1)), gib(8));
    EXPECT_EQ(made->quotas.at(cuda(1)), Bytes{(gib(24).count()) / 20});
}

TEST(Distorch2, ADonorThatComputesGetsEverything) {
    const auto made = made_of("#cuda:0;4.0;cuda:0");
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->per_device, (std::map<DeviceId, Bytes>{{cuda(0), gib(10)}}));
}

TEST(Distorch2, VirtualMemoryCountsWeightsAndBiasesOnly) {
    const auto made = place_like_distorch2({.blocks = model_1(),
                                            .text = "#cuda:0;4.0;cpu",
                                            .machine = system_a(),
                                            .counted_bytes = gib(8)});
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->fractions, "cuda:0,0.1667;cpu,0.0625;cuda:1,0.0");
}

}  // namespace
}  // namespace ballast::plan
