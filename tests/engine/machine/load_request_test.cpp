#include "ballast/engine/machine/load_request.hpp"

#include <gtest/gtest.h>

#include "ballast/engine/machine/inference_reserve.hpp"
#include "tests/engine/machine/machines.hpp"

namespace ballast::machine {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

LoadNeeds needs(double required, std::optional<double> minimum) {
    return {.required = required,
            .minimum = minimum,
            .extra_reserve = extra_reserve(System::gnu_linux, gib(8), std::nullopt),
            .min_inference = min_inference(System::gnu_linux, gib(8), std::nullopt)};
}

// a card of 8 GiB, a model of 6 GiB, the sampler wants 1.2 GiB and can do with 0.7
TEST(LoadRequest, FollowsTheWorkedNumbersOfANvidiaCard) {
    const auto sampler = needs(1.2 * kGiB, 0.7 * kGiB);
    EXPECT_NEAR(wanted_beside(sampler), 1707920588.8, 0.1);
    EXPECT_NEAR(least_beside(sampler), 1278423859.2, 0.1);
    EXPECT_NEAR(free_target(6442450944.0, sampler), 8794616627.2, 0.2);
    EXPECT_NEAR(load_budget(8053063680.0, 0, 0, sampler), 6774639820.8, 0.1);
    EXPECT_NEAR(load_budget(7516192768.0, 0, 0, sampler), 6237768908.8, 0.1);
}

TEST(LoadRequest, OtherKindsGiveWeightsAShare) {
    const auto sampler = needs(0, 3.5 * kGiB);
    EXPECT_NEAR(load_budget(4294967296.0, 0, 0.4, sampler), 1717986918.4, 0.1);
    EXPECT_EQ(minimum_weight_ratio(nvidia("NVIDIA Card", 8, false)), 0.0);
    EXPECT_EQ(minimum_weight_ratio(radeon("Radeon", 8, false)), 0.4);
    EXPECT_EQ(minimum_weight_ratio(of_kind(DeviceKind::xpu, "intel", 8, false)), 0.4);
}

TEST(LoadRequest, WhatIsLoadedCountsAsRoomAndMayHaveToShrink) {
    const auto sampler = needs(0, std::nullopt);
    EXPECT_NEAR(load_budget(1 * kGiB, 3 * kGiB, 0, sampler), 1 * kGiB - sampler.min_inference, 1);
    EXPECT_LT(load_budget(0.5 * kGiB, 3 * kGiB, 0, sampler), 0);
    EXPECT_EQ(load_budget(0.5 * kGiB, 0, 0, sampler), 0.1) << "nothing is not everything";
}

}  // namespace
}  // namespace ballast::machine
