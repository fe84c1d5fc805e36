#include "ballast/engine/machine/discovery/level_zero.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/fakes/fake_level_zero.hpp"
#include "tests/fakes/fake_library.hpp"

namespace ballast::machine {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LevelZero : public ::testing::Test {
protected:
    void TearDown() override { EXPECT_EQ(driver_->context_calls, 0); }

    std::vector<DeviceProfile> find() { return level_zero_devices(driver_.names()).devices; }
    DeviceProfile only() {
        auto found = find();
        EXPECT_EQ(found.size(), 1U);
        return found.empty() ? DeviceProfile{} : found.front();
    }

    ballast::testing::FakeLibrary<ballast::testing::FakeLevelZero> driver_{FAKE_LEVEL_ZERO};
};

TEST_F(LevelZero, DescribesACard) {
    driver_->device[0].memories = {std::uint64_t{15} << 30U, std::uint64_t{1} << 30U};
    const auto device = only();
    EXPECT_EQ(to_string(device.id), "xpu:0");
    EXPECT_EQ(device.name, "Intel(R) Arc(TM) A770 Graphics");
    EXPECT_EQ(device.vendor, "intel");
    EXPECT_EQ(device.total, 16_GiB);
    EXPECT_EQ(device.free, std::nullopt);
    EXPECT_EQ(device.integrated, false);
    EXPECT_EQ(device.uuid, "08070605-0403-0201-0000-000000000000");
    EXPECT_EQ(device.pci, "0000:03:00.0");
    EXPECT_THAT(device.query_fails, IsEmpty());
}

TEST_F(LevelZero, TheFlagTellsIntegratedDevices) {
    driver_->device[0].flags = 0b1001;
    EXPECT_EQ(only().integrated, true);
    driver_->device[0].flags = 0b1110;
    EXPECT_EQ(only().integrated, false);
}

TEST_F(LevelZero, CountsGraphicsDevicesOfAllDriversThrough) {
    driver_->drivers = 2;
    driver_->devices = 3;
    driver_->device[1].type = 5;  // an NPU
    driver_->device[2].vendor = 0x10de;
    const auto found = find();
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(to_string(found[3].id), "xpu:3");
    EXPECT_EQ(found[1].vendor, "");
}

TEST_F(LevelZero, FiguresThatCannotBeAreUnknown) {
    auto& device = driver_->device[0];
    device.memory_fault = 1;
    EXPECT_THAT(only().query_fails, ElementsAre(Query::total));
    device.memory_fault = 0;
    device.memories = {~std::uint64_t{0}, ~std::uint64_t{0}};
    EXPECT_THAT(only().query_fails, ElementsAre(Query::total));
    device.memories = {};
    EXPECT_EQ(only().total, std::nullopt);
    device = {};
    device.bus = 0xFFFFFFFF;
    EXPECT_EQ(only().pci, "");
}

TEST_F(LevelZero, NamesAreBounded) {
    const std::string endless(1000, 'A');
    driver_->device[0].name = endless.c_str();
    EXPECT_EQ(only().name, std::string(256, 'A'));
    driver_->device[0].name = "";
    EXPECT_THAT(only().query_fails, ElementsAre(Query::name));
}

TEST_F(LevelZero, ListsThatGrowOrLieAreBounded) {
    driver_->claimed_devices = 3;  // handles of two of them are null
    EXPECT_EQ(find().size(), 1U);
    driver_->claimed_devices = 0xFFFFFFFF;
    EXPECT_EQ(find().size(), 1U);
    driver_->claimed_devices = 0;
    driver_->devices = 0;
    EXPECT_THAT(find(), IsEmpty());
    driver_->drivers = 0;
    EXPECT_THAT(find(), IsEmpty());
}

TEST_F(LevelZero, IsNothingWithoutADriverOrFunctions) {
    driver_->init_fault = 0x78000001;
    EXPECT_THAT(find(), IsEmpty());
    driver_->init_fault = 0;
    driver_->device[0].properties_fault = 1;
    EXPECT_THAT(find(), IsEmpty());
    EXPECT_THAT(level_zero_devices(std::vector<std::string>{FAKE_NOTHING}).devices, IsEmpty());
}

}  // namespace
}  // namespace ballast::machine
