#include "ballast/engine/machine/discovery/other_accelerators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/fake_library.hpp"
#include "tests/fakes/fake_npu.hpp"
#include "tests/fakes/fake_nvml.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::machine {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Names = std::vector<std::string>;
using Npu = ballast::testing::FakeLibrary<ballast::testing::FakeNpu>;

std::vector<std::string> ids(const FoundDevices& found) {
    std::vector<std::string> texts;
    texts.reserve(found.devices.size());
    for (const auto& device : found.devices) texts.push_back(to_string(device.id));
    return texts;
}

TEST(OtherAccelerators, AscendDevicesHaveTheNameOfTheirChip) {
    const Npu library(FAKE_NPU);
    const auto found = ascend_devices(library.names());
    EXPECT_THAT(ids(found), ElementsAre("npu:0", "npu:1"));
    EXPECT_EQ(found.devices[0].name, "Ascend910B2");
    EXPECT_EQ(found.devices[0].vendor, "huawei");
    EXPECT_EQ(found.devices[0].total, std::nullopt);
}

TEST(OtherAccelerators, AscendMayHaveBeenStartedBefore) {
    Npu library(FAKE_NPU);
    library->init_answer = 100002;
    EXPECT_EQ(ascend_devices(library.names()).devices.size(), 2U);
    library->init_answer = 500000;
    EXPECT_THAT(ascend_devices(library.names()).devices, IsEmpty());
    library->init_answer = 0;
    library->name = nullptr;
    EXPECT_THAT(ascend_devices(library.names()).devices[0].query_fails, ElementsAre(Query::name));
    const std::string endless(5000, 'A');
    library->name = endless.c_str();
    EXPECT_EQ(ascend_devices(library.names()).devices[0].name.size(), 256U);
}

TEST(OtherAccelerators, CambriconDevicesAreNamedOneByOne) {
    Npu library(FAKE_NPU);
    library->name = "MLU370-X8";
    const auto found = cambricon_devices(library.names());
    EXPECT_THAT(ids(found), ElementsAre("mlu:0", "mlu:1"));
    EXPECT_EQ(found.devices[1].name, "MLU370-X8");
    library->count = -2;
    EXPECT_THAT(cambricon_devices(library.names()).devices, IsEmpty());
    library->count = 2;
    library->init_answer = 1;
    EXPECT_THAT(cambricon_devices(library.names()).devices, IsEmpty());
}

TEST(OtherAccelerators, DirectMlNeedsAllItsFiles) {
    const ballast::testing::TemporaryFolder folder;
    const auto core = folder.write("libdxcore.so", "").string();
    const auto ml = (folder / "libdirectml.so").string();
    EXPECT_THAT(directml_devices(Names{core, ml}).devices, IsEmpty());
    folder.write("libdirectml.so", "");
    EXPECT_THAT(ids(directml_devices(Names{core, ml})), ElementsAre("directml:0"));
    EXPECT_THAT(directml_devices({}).devices, IsEmpty());
}

TEST(OtherAccelerators, CoreXDevicesTellTheirMemory) {
    ballast::testing::FakeLibrary<ballast::testing::FakeNvml> library(FAKE_NVML);
    const auto found = corex_devices(library.names());
    EXPECT_THAT(ids(found), ElementsAre("corex:0"));
    EXPECT_EQ(found.devices[0].name, "Iluvatar BI-V150");
    EXPECT_EQ(found.devices[0].total, 24_GiB);
    EXPECT_EQ(found.devices[0].free, 20_GiB);
    EXPECT_EQ(library->started, 0);
}

TEST(OtherAccelerators, AnotherLibraryOfThatNameIsNoDevice) {
    const Names other{FAKE_NOTHING};
    for (const auto& names : {Names{}, other}) {
        EXPECT_THAT(ascend_devices(names).devices, IsEmpty());
        EXPECT_THAT(cambricon_devices(names).devices, IsEmpty());
        EXPECT_THAT(corex_devices(names).devices, IsEmpty());
    }
}

}  // namespace
}  // namespace ballast::machine
