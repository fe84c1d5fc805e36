#include "tests/device_check/checks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/support/device_behaviour.hpp"

namespace ballast::device {
namespace {

std::shared_ptr<Device>& under_test() {
    static std::shared_ptr<Device> device;
    return device;
}

INSTANTIATE_TEST_SUITE_P(Checked, DeviceBehaviour,
                         ::testing::Values(DeviceCase{
                             "device", [] { return DeviceUnderTest{{}, under_test()}; }}),
                         [](const auto& each) { return each.param.name; });

/// Tells of failures alone.
class FailurePrinter final : public ::testing::EmptyTestEventListener {
    void OnTestPartResult(const ::testing::TestPartResult& result) override {
        if (!result.failed()) return;
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        std::cerr << (test == nullptr ? "" : test->name()) << ": " << result.message() << "\n";
    }
};

}  // namespace
}  // namespace ballast::device

namespace ballast::device_check {

Outcome behaves(const std::shared_ptr<device::Device>& device) {
    device::under_test() = device;
    ::testing::InitGoogleTest();
    auto& suite = *::testing::UnitTest::GetInstance();
    delete suite.listeners().Release(suite.listeners().default_result_printer());
    suite.listeners().Append(new device::FailurePrinter);
    const bool has_passed = RUN_ALL_TESTS() == 0 && suite.test_to_run_count() > 0;
    device::under_test().reset();
    return {has_passed, fmt::format("{} of {} tests", suite.successful_test_count(),
                                    suite.test_to_run_count())};
}

}  // namespace ballast::device_check
