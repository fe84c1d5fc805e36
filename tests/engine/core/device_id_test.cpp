#include "ballast/engine/core/device_id.hpp"

#include <gtest/gtest.h>

namespace ballast {
namespace {

TEST(DeviceId, PrintsTheIndexWhereThereMayBeSeveral) {
    EXPECT_EQ(to_string(kCpu), "cpu");
    EXPECT_EQ(to_string({DeviceKind::mps, 0}), "mps");
    EXPECT_EQ(to_string({DeviceKind::disk, 0}), "disk");
    EXPECT_EQ(to_string({DeviceKind::cuda, 0}), "cuda:0");
    EXPECT_EQ(to_string({DeviceKind::xpu, 12}), "xpu:12");
}

TEST(DeviceId, EveryKindIsReadBack) {
    for (const auto kind : {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::xpu, DeviceKind::mps,
                            DeviceKind::npu, DeviceKind::mlu, DeviceKind::directml,
                            DeviceKind::corex, DeviceKind::privateuseone, DeviceKind::disk}) {
        const DeviceId device{kind, 0};
        EXPECT_EQ(parse_device(to_string(device)), device) << to_string(device);
    }
    EXPECT_EQ(parse_device("cuda:3"), (DeviceId{DeviceKind::cuda, 3}));
}

TEST(DeviceId, TheFirstOfItsKindNeedsNoIndex) {
    EXPECT_EQ(parse_device("cuda"), (DeviceId{DeviceKind::cuda, 0}));
    EXPECT_EQ(parse_device("cpu:0"), kCpu);
}

TEST(DeviceId, RefusesWhatNamesNoDevice) {
    for (const auto* text : {"", ":", "gpu", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:-0",
                             "cuda:+1", "cuda: 1", "cuda:1 ", "cuda:1:2", "cuda:1.0",
                             "cuda:99999999999", "cpu:1", "mps:1", "disk:2", " cpu"})
        EXPECT_EQ(parse_device(text), std::nullopt) << text;
}

TEST(DeviceId, IsOrderedByKindThenIndex) {
    EXPECT_LT(kCpu, (DeviceId{DeviceKind::cuda, 0}));
    EXPECT_LT((DeviceId{DeviceKind::cuda, 0}), (DeviceId{DeviceKind::cuda, 1}));
    EXPECT_NE((DeviceId{DeviceKind::cuda, 0}), (DeviceId{DeviceKind::xpu, 0}));
}

}  // namespace
}  // namespace ballast
