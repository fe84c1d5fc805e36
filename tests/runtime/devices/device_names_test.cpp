#include "ballast/runtime/tensor/device_names.hpp"

#include <gtest/gtest.h>

namespace ballast::runtime {
namespace {

TEST(DeviceNames, AreTheSameThereAndBack) {
    for (const auto* name : {"cpu", "cuda:0", "cuda:7", "xpu:1", "mps", "privateuseone:1"}) {
        const auto id = parse_device(name);
        const auto device = torch_device(*id);
        ASSERT_TRUE(device.has_value()) << name;
        EXPECT_EQ(device_id(*device), id) << name;
    }
}

TEST(DeviceNames, TheProcessorBearsNoIndexAsItsTensorsDoNot) {
    EXPECT_EQ(torch_device(kCpu), c10::Device(c10::kCPU));
    EXPECT_FALSE(torch_device(kCpu)->has_index());
}

TEST(DeviceNames, NothingForWhatTorchDoesNotKnow) {
    EXPECT_EQ(torch_device({DeviceKind::disk, 0}), std::nullopt);
    EXPECT_EQ(torch_device({DeviceKind::npu, 0}), std::nullopt) << "its back end is not loaded";
    EXPECT_EQ(torch_device({DeviceKind::cuda, 128}), std::nullopt);
    EXPECT_EQ(device_id(c10::Device(c10::kMeta)), std::nullopt);
}

}  // namespace
}  // namespace ballast::runtime
