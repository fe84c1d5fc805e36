#include "ballast/engine/machine/discovery/discover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/fake_cuda.hpp"
#include "tests/fakes/fake_hip.hpp"
#include "tests/fakes/fake_level_zero.hpp"
#include "tests/fakes/fake_library.hpp"
#include "tests/fakes/fake_npu.hpp"
#include "tests/fakes/fake_nvml.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::machine {
namespace {

using namespace literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const DriverLibraries kNoDrivers{.cuda = {},
                                 .nvml = {},
                                 .hip = {},
                                 .level_zero = {},
                                 .ascend = {},
                                 .cambricon = {},
                                 .corex = {},
                                 .directml = {}};

/// A machine of folders, without devices at first.
class Discover : public ::testing::Test {
protected:
    Discover() {
        options_.proc = folder_ / "proc";
        options_.sys = folder_ / "sys";
        options_.libraries = kNoDrivers;
        folder_.write("proc/meminfo", "MemTotal: 67108864 kB\nMemAvailable: 33554432 kB\n");
        folder_.write("proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
        folder_.write("proc/sys/kernel/hostname", "workbench\n");
    }

    ballast::testing::TemporaryFolder folder_;
    DiscoveryOptions options_;
};

TEST_F(Discover, FindsTheHost) {
    const auto found = discover(options_);
    EXPECT_EQ(found.profile.name, "workbench");
    EXPECT_EQ(found.profile.system, System::gnu_linux);
    EXPECT_EQ(found.profile.host.total, 64_GiB);
    EXPECT_EQ(found.profile.host.available, 32_GiB);
    EXPECT_EQ(found.profile.host.limit, std::nullopt);
    EXPECT_THAT(found.profile.devices, IsEmpty());
    EXPECT_THAT(found.profile.source, ElementsAre((folder_ / "proc/meminfo").string()));
    EXPECT_THAT(found.warnings, IsEmpty());
    EXPECT_EQ(found.profile.storage.kind, "");
}

TEST_F(Discover, TellsWindowsSubsystemByItsKernel) {
    folder_.write("proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n");
    EXPECT_EQ(discover(options_).profile.system, System::wsl2);
    folder_.write("proc/sys/kernel/osrelease", "4.4.0-19041-Microsoft\n");
    EXPECT_EQ(discover(options_).profile.system, System::wsl2);
}

TEST_F(Discover, FindsTheContainersLimit) {
    folder_.write("proc/self/cgroup", "0::/box\n");
    folder_.write("sys/fs/cgroup/box/memory.max", "8589934592\n");
    folder_.write("sys/fs/cgroup/box/memory.current", "1073741824\n");
    const auto found = discover(options_);
    EXPECT_EQ(found.profile.host.limit, 8_GiB);
    EXPECT_EQ(found.profile.host.limit_used, 1_GiB);
    EXPECT_EQ(host_available(found.profile.host), 7_GiB);
    EXPECT_THAT(found.profile.source, Contains(HasSubstr("cgroup/box")));
}

TEST_F(Discover, AnUnknownHostIsAWarningAndNoFailure) {
    options_.proc = folder_ / "nothing";
    const auto unread = discover(options_);
    EXPECT_EQ(unread.profile.host, HostProfile{});
    EXPECT_EQ(unread.profile.name, "");
    EXPECT_THAT(unread.warnings, ElementsAre(HasSubstr("cannot be read")));
    options_.proc = folder_ / "proc";
    folder_.write("proc/meminfo", "\x01\x02 nonsense");
    EXPECT_THAT(discover(options_).warnings, ElementsAre(HasSubstr("does not tell")));
}

TEST_F(Discover, ListsDevicesOfAllKindsInOneOrder) {
    ballast::testing::FakeLibrary<ballast::testing::FakeCuda> cuda(FAKE_CUDA);
    ballast::testing::FakeLibrary<ballast::testing::FakeNvml> nvml(FAKE_NVML);
    ballast::testing::FakeLibrary<ballast::testing::FakeHip> hip(FAKE_HIP);
    ballast::testing::FakeLibrary<ballast::testing::FakeLevelZero> intel(FAKE_LEVEL_ZERO);
    ballast::testing::FakeLibrary<ballast::testing::FakeNpu> npu(FAKE_NPU);
    cuda->count = 2;
    npu->count = 1;
    options_.libraries = {.cuda = cuda.names(),
                          .nvml = nvml.names(),
                          .hip = hip.names(),
                          .level_zero = intel.names(),
                          .ascend = npu.names(),
                          .cambricon = npu.names(),
                          .corex = nvml.names(),
                          .directml = {folder_.write("libdxcore.so", "").string()}};
    folder_.write("sys/bus/pci/devices/0000:03:00.0/max_link_speed", "16.0 GT/s PCIe\n");
    folder_.write("sys/bus/pci/devices/0000:03:00.0/max_link_width", "16\n");
    const auto found = discover(options_);
    std::vector<std::string> ids;
    ids.reserve(found.profile.devices.size());
    for (const auto& device : found.profile.devices) ids.push_back(to_string(device.id));
    EXPECT_THAT(ids, ElementsAre("cuda:0", "cuda:1", "cuda:2", "xpu:0", "npu:0", "mlu:0",
                                 "directml:0", "corex:0"));
    EXPECT_EQ(found.profile.devices[2].vendor, "amd");
    ASSERT_EQ(found.profile.links.size(), 2U);
    EXPECT_EQ(to_string(found.profile.links[0].to), "xpu:0");
    EXPECT_EQ(cuda->context_calls + hip->context_calls + intel->context_calls, 0);
}

TEST_F(Discover, PassesOnWhatDriversWarnOf) {
    ballast::testing::FakeLibrary<ballast::testing::FakeCuda> cuda(FAKE_CUDA);
    cuda->init_fault = 804;
    options_.libraries.cuda = cuda.names();
    EXPECT_THAT(discover(options_).warnings, ElementsAre(HasSubstr("804")));
}

TEST_F(Discover, ThisMachineIsFound) {
    const auto found = discover({.models = BALLAST_TEST_DATA});
    EXPECT_GT(found.profile.host.total.value_or(Bytes{}), 100_MiB);
    EXPECT_FALSE(found.profile.name.empty());
}

}  // namespace
}  // namespace ballast::machine
