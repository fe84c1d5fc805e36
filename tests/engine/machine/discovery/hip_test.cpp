#include "ballast/engine/machine/discovery/hip.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ballast/engine/machine/memory_class.hpp"
#include "tests/fakes/fake_hip.hpp"
#include "tests/fakes/fake_library.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::machine {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Hip : public ::testing::Test {
protected:
    void TearDown() override {
        EXPECT_EQ(hip_->context_calls, 0) << "discovery must never create a context";
    }

    FoundDevices find(int first = 0) { return hip_devices(hip_.names(), folder_.path(), first); }
    DeviceProfile only() {
        auto found = find();
        EXPECT_EQ(found.devices.size(), 1U);
        return found.devices.empty() ? DeviceProfile{} : found.devices.front();
    }
    void pool(const std::string& file, Bytes bytes) {
        folder_.write("bus/pci/devices/0000:c5:00.0/mem_info_" + file,
                      std::to_string(bytes.count()) + "\n");
    }
    void node(const std::string& number, std::string_view properties) {
        folder_.write("class/kfd/kfd/topology/nodes/" + number + "/properties", properties);
    }

    ballast::testing::FakeLibrary<ballast::testing::FakeHip> hip_{FAKE_HIP};
    ballast::testing::TemporaryFolder folder_;
};

TEST_F(Hip, AnIntegratedDeviceHasACarveOutAndMapsHostMemory) {
    pool("vram_total", 512_MiB);
    pool("vram_used", 112_MiB);
    pool("gtt_total", 62_GiB);
    pool("gtt_used", 2_GiB);
    node("0", "cpu_cores_count 32\ngfx_target_version 0\nlocation_id 0\ndomain 0\n");
    node("1", "simd_count 80\ngfx_target_version 110501\nlocation_id 50432\ndomain 0\n");
    const auto device = only();
    EXPECT_EQ(device.id, (DeviceId{DeviceKind::cuda, 0}));
    EXPECT_EQ(device.vendor, "amd");
    EXPECT_EQ(device.name, "Radeon 8060S Graphics");
    EXPECT_EQ(device.total, 62_GiB);
    EXPECT_EQ(device.integrated, true);
    EXPECT_EQ(device.carveout, 512_MiB);
    EXPECT_EQ(device.gtt, 62_GiB);
    EXPECT_EQ(device.free, 400_MiB + 60_GiB);
    EXPECT_EQ(device.capability, "gfx1151");
    EXPECT_EQ(device.pci, "0000:c5:00.0");
    EXPECT_THAT(device.query_fails, IsEmpty());
    EXPECT_EQ(classify(device, {}, System::gnu_linux, {}).memory_class, MemoryClass::unified);
}

TEST_F(Hip, ACardHasMemoryOfItsOwn) {
    hip_->devices[0].integrated = 0;
    pool("vram_total", 24_GiB);
    pool("vram_used", 1_GiB);
    pool("gtt_total", 32_GiB);
    pool("gtt_used", 1_GiB);
    const auto device = only();
    EXPECT_EQ(device.integrated, false);
    EXPECT_EQ(device.carveout, std::nullopt);
    EXPECT_EQ(device.gtt, 32_GiB);
    EXPECT_EQ(device.free, 23_GiB);
    EXPECT_EQ(device.capability, "");
}

TEST_F(Hip, WithoutTheGraphicsDriversFilesThatPartIsUnknown) {
    const auto device = only();
    EXPECT_EQ(device.free, std::nullopt);
    EXPECT_EQ(device.gtt, std::nullopt);
    EXPECT_EQ(device.carveout, std::nullopt);
    EXPECT_EQ(device.total, 62_GiB);
    pool("vram_total", 1_GiB);
    pool("vram_used", 2_GiB);
    EXPECT_EQ(only().free, 0_B);
}

TEST_F(Hip, IsNumberedAfterOtherDevicesOfThatName) {
    hip_->count = 2;
    const auto found = find(3);
    ASSERT_EQ(found.devices.size(), 2U);
    EXPECT_EQ(to_string(found.devices[0].id), "cuda:3");
    EXPECT_EQ(to_string(found.devices[1].id), "cuda:4");
}

TEST_F(Hip, TheArchitectureIsThatOfTheSameAddress) {
    node("0", "gfx_target_version 0\nlocation_id 0\n");
    node("1", "gfx_target_version 110000\nlocation_id 768\ndomain 0\n");
    node("2", "gfx_target_version 120001\nlocation_id 50432\ndomain 1\n");
    EXPECT_EQ(only().capability, "");
    node("3", "gfx_target_version 90010\nlocation_id 50432\ndomain 0\n");
    EXPECT_EQ(only().capability, "gfx90a");
}

TEST_F(Hip, NamesArchitecturesAsCompilersDo) {
    EXPECT_EQ(architecture_name(110501), "gfx1151");
    EXPECT_EQ(architecture_name(90402), "gfx942");
    EXPECT_EQ(architecture_name(90010), "gfx90a");
    EXPECT_EQ(architecture_name(100300), "gfx1030");
    EXPECT_EQ(architecture_name(0), "");
    EXPECT_EQ(architecture_name(999999), "");
    EXPECT_EQ(architecture_name(~std::uint64_t{0}), "");
}

TEST_F(Hip, EachQuestionCanFailAlone) {
    auto& device = hip_->devices[0];
    device.attribute_fault = 1;
    EXPECT_THAT(only().query_fails, ElementsAre(Query::attributes));
    device = {};
    device.integrated = -3;
    EXPECT_THAT(only().query_fails, ElementsAre(Query::attributes));
    device = {};
    device.total_fault = 1;
    EXPECT_THAT(only().query_fails, ElementsAre(Query::total));
    device = {};
    device.total = static_cast<std::size_t>(-1);
    EXPECT_THAT(only().query_fails, ElementsAre(Query::total));
    device = {};
    device.name_fault = 1;
    EXPECT_THAT(only().query_fails, ElementsAre(Query::name));
}

TEST_F(Hip, IsNothingWithoutDevicesOrFunctions) {
    hip_->count = -5;
    EXPECT_THAT(find().devices, IsEmpty());
    hip_->count_fault = 100;
    EXPECT_THAT(find().warnings, IsEmpty());
    hip_->count_fault = 35;
    EXPECT_THAT(find().warnings, ElementsAre(HasSubstr("35")));
    EXPECT_THAT(hip_devices(std::vector<std::string>{FAKE_NOTHING}, "/sys", 0).devices, IsEmpty());
    EXPECT_THAT(hip_devices({}, "/sys", 0).devices, IsEmpty());
}

}  // namespace
}  // namespace ballast::machine
