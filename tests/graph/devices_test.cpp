#include "ballast/graph/devices.hpp"

#include <gmock/gmock.h>

namespace ballast::graph {
namespace {

using enum DeviceKind;
using ::testing::ElementsAre;

TEST(Devices, AMachineWithoutAcceleratorHasTheCpu) {
    const Devices none;
    EXPECT_THAT(none.names(), ElementsAre("cpu"));
    EXPECT_EQ(none.preferred(), "cpu");
}

TEST(Devices, StandInOneOrderWhateverTheOrderInWhichTheyWereFound) {
    const Devices devices({{cuda, 10}, {mps, 0}, {npu, 1}, {cuda, 2}, {xpu, 0}, kCpu, {cuda, 2}});
    EXPECT_THAT(devices.names(), ElementsAre("cpu", "cuda:2", "cuda:10", "xpu:0", "npu:1", "mps"));
    EXPECT_EQ(devices.preferred(), "cuda:2");
}

TEST(Devices, TheDiskStoresOnlyAndIsNoChoice) {
    EXPECT_THAT(Devices({{disk, 0}, {directml, 0}}).names(), ElementsAre("cpu", "directml:0"));
}

}  // namespace
}  // namespace ballast::graph
