#include "ballast/engine/machine/discovery/cuda_driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ballast/engine/machine/memory_class.hpp"
#include "tests/fakes/fake_cuda.hpp"
#include "tests/fakes/fake_library.hpp"
#include "tests/fakes/fake_nvml.hpp"

namespace ballast::machine {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kFault = 999;

class CudaDriver : public ::testing::Test {
protected:
    void TearDown() override {
        EXPECT_EQ(cuda_->context_calls, 0) << "discovery must never create a context";
        EXPECT_EQ(nvml_->started, 0) << "what is started is shut down";
    }

    FoundDevices find() { return cuda_devices(cuda_.names(), nvml_.names()); }
    DeviceProfile only() {
        auto found = find();
        EXPECT_EQ(found.devices.size(), 1U);
        return found.devices.empty() ? DeviceProfile{} : found.devices.front();
    }
    void make_gb10() {
        auto& device = cuda_->devices[0];
        device.name = "NVIDIA GB10";
        device.pci = "000F:01:00.0";
        device.total = 130662375424;
        for (const auto attribute : {18U, 83U, 88U, 89U, 100U}) device.attributes[attribute] = 1;
        device.attributes[75] = 12;
        device.attributes[76] = 1;
        nvml_->expected_pci = "000f:01:00.0";
        nvml_->memory_fault = 3;  // not supported
    }

    ballast::testing::FakeLibrary<ballast::testing::FakeCuda> cuda_{FAKE_CUDA};
    ballast::testing::FakeLibrary<ballast::testing::FakeNvml> nvml_{FAKE_NVML};
};

TEST_F(CudaDriver, DescribesACardWithoutTouchingIt) {
    auto& answers = cuda_->devices[0].attributes;
    answers[88] = 1;
    answers[89] = 1;
    answers[75] = 8;
    answers[76] = 9;
    const auto device = only();
    EXPECT_EQ(device.id, (DeviceId{DeviceKind::cuda, 0}));
    EXPECT_EQ(device.name, "NVIDIA GeForce RTX 4090");
    EXPECT_EQ(device.vendor, "nvidia");
    EXPECT_EQ(device.total, 24_GiB);
    EXPECT_EQ(device.free, 20_GiB);
    EXPECT_EQ(device.integrated, false);
    EXPECT_EQ(device.capability, "8.9");
    EXPECT_EQ(device.uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
    EXPECT_EQ(device.pci, "0000:01:00.0");
    EXPECT_EQ(device.attributes, (DeviceAttributes{.pageable_access = true,
                                                   .host_page_tables = false,
                                                   .managed = false,
                                                   .concurrent_managed = true,
                                                   .direct_managed_host = false,
                                                   .own_memory_node = false}));
    EXPECT_THAT(device.query_fails, IsEmpty());
}

TEST_F(CudaDriver, OnGb10FreeMemoryIsAQuestionThatFailsForGood) {
    make_gb10();
    const auto device = only();
    EXPECT_EQ(device.free, std::nullopt);
    EXPECT_THAT(device.query_fails, ElementsAre(Query::free));
    EXPECT_EQ(device.pci, "000f:01:00.0");
    EXPECT_EQ(device.capability, "12.1");
    const HostProfile host{.total = Bytes{130662375424}};
    EXPECT_EQ(classify(device, host, System::gnu_linux, {}).rule, "D3");
}

TEST_F(CudaDriver, EachQuestionCanFailAlone) {
    auto& device = cuda_->devices[0];
    device.attribute_faults[18] = kFault;
    EXPECT_THAT(only().query_fails, ElementsAre(Query::attributes));
    EXPECT_EQ(only().integrated, std::nullopt);
    EXPECT_EQ(only().attributes.managed, false);
    device = {};
    device.total_fault = kFault;
    EXPECT_THAT(only().query_fails, ElementsAre(Query::total));
    device = {};
    device.name_fault = kFault;
    EXPECT_THAT(only().query_fails, ElementsAre(Query::name));
    EXPECT_EQ(only().name, "");
    device = {};
    device.pci_fault = kFault;
    EXPECT_EQ(only().pci, "");
    EXPECT_EQ(only().free, std::nullopt);
    EXPECT_THAT(only().query_fails, IsEmpty());
    device = {};
    device.device_fault = kFault;
    EXPECT_THAT(only().query_fails, ElementsAre(Query::attributes, Query::total, Query::name));
}

TEST_F(CudaDriver, AnAttributeThatAnOldDriverDoesNotKnowSpoilsNoOther) {
    make_gb10();
    cuda_->devices[0].attribute_faults[130] = 1;
    cuda_->devices[0].attribute_faults[75] = 1;
    const auto device = only();
    EXPECT_EQ(device.attributes.own_memory_node, std::nullopt);
    EXPECT_EQ(device.capability, "");
    EXPECT_EQ(device.integrated, true);
    EXPECT_FALSE(device.fails(Query::attributes));
}

TEST_F(CudaDriver, ValuesThatCannotBeAreUnknown) {
    auto& device = cuda_->devices[0];
    device.attributes.fill(-7);
    device.total = static_cast<std::size_t>(-4096);
    EXPECT_EQ(only().integrated, std::nullopt);
    EXPECT_EQ(only().attributes, DeviceAttributes{});
    EXPECT_EQ(only().capability, "");
    EXPECT_EQ(only().total, std::nullopt);
    EXPECT_TRUE(only().fails(Query::total));
    device.total = 0;
    EXPECT_TRUE(only().fails(Query::total));
}

TEST_F(CudaDriver, NamesAreBoundedAndSafeToPrint) {
    auto& device = cuda_->devices[0];
    const std::string endless(1000, 'A');
    device.name = endless.c_str();
    device.pci = endless.c_str();
    EXPECT_EQ(only().name, std::string(256, 'A'));
    EXPECT_EQ(only().pci, "");
    device.name = " RTX\x1b[2J\n\xff ";
    device.pci = "../../etc:00.0";
    EXPECT_EQ(only().name, "RTX\\x1b[2J\\x0a\\xff");
    EXPECT_EQ(only().pci, "");
}

TEST_F(CudaDriver, CountsThatCannotBeAreNotBelieved) {
    cuda_->count = 0;
    EXPECT_THAT(find().devices, IsEmpty());
    cuda_->count = -1;
    EXPECT_THAT(find().devices, IsEmpty());
    cuda_->count = 3;
    cuda_->count_fault = kFault;
    EXPECT_THAT(find().devices, IsEmpty());
    cuda_->count_fault = 0;
    EXPECT_EQ(find().devices.size(), 3U);
    EXPECT_EQ(find().devices[2].id.index, 2);
    cuda_->count = 2000000000;
    EXPECT_EQ(find().devices.size(), static_cast<std::size_t>(kMostDevices));
}

TEST_F(CudaDriver, ADriverThatDoesNotStartGivesAWarningUnlessThereIsNoCard) {
    cuda_->init_fault = 803;
    EXPECT_THAT(find().devices, IsEmpty());
    EXPECT_THAT(find().warnings, ElementsAre(HasSubstr("803")));
    cuda_->init_fault = 100;
    EXPECT_THAT(find().devices, IsEmpty());
    EXPECT_THAT(find().warnings, IsEmpty());
}

TEST_F(CudaDriver, DoesWithWhatTheLibraryHas) {
    EXPECT_THAT(cuda_devices(std::vector<std::string>{FAKE_NOTHING}, {}).devices, IsEmpty());
    EXPECT_THAT(cuda_devices({}, {}).devices, IsEmpty());
    ballast::testing::FakeLibrary<ballast::testing::FakeCuda> old(FAKE_OLD_CUDA);
    const auto found = cuda_devices(old.names(), nvml_.names());
    ASSERT_EQ(found.devices.size(), 1U);
    const auto& device = found.devices.front();
    EXPECT_EQ(device.uuid, "GPU-abababab-abab-abab-abab-abababababab");
    EXPECT_THAT(device.query_fails, ElementsAre(Query::total));
    EXPECT_EQ(device.pci, "");
    EXPECT_EQ(device.name, "NVIDIA GeForce RTX 4090");
    EXPECT_EQ(old->context_calls, 0);
}

TEST_F(CudaDriver, WithoutTheManagementLibraryFreeMemoryIsUnknown) {
    for (const auto& names : {std::vector<std::string>{}, std::vector<std::string>{FAKE_NOTHING}}) {
        const auto found = cuda_devices(cuda_.names(), names);
        ASSERT_EQ(found.devices.size(), 1U);
        EXPECT_EQ(found.devices[0].free, std::nullopt);
        EXPECT_THAT(found.devices[0].query_fails, IsEmpty());
    }
    nvml_->init_fault = kFault;
    EXPECT_EQ(only().free, std::nullopt);
    nvml_->init_fault = 0;
    nvml_->memory_fault = kFault;
    EXPECT_EQ(only().free, std::nullopt);
    EXPECT_THAT(only().query_fails, IsEmpty());
    nvml_->memory_fault = 0;
    nvml_->expected_pci = "0000:02:00.0";
    EXPECT_EQ(only().free, std::nullopt);
}

TEST_F(CudaDriver, FreeMemoryIsOfThisDeviceAndNoMoreThanItHas) {
    nvml_->free = nvml_->total;
    nvml_->total += 300U << 20U;
    nvml_->free += 100U << 20U;
    EXPECT_EQ(only().free, 24_GiB);
    nvml_->free = 0;
    EXPECT_EQ(only().free, 0_B);
    nvml_->free = nvml_->total + 1;
    EXPECT_EQ(only().free, std::nullopt);
    nvml_->free = 5ULL << 30U;
    cuda_->devices[0].total = std::size_t{10} << 30U;  // a slice of the card
    EXPECT_EQ(only().free, std::nullopt);
}

}  // namespace
}  // namespace ballast::machine
