#include "tests/support/device_behaviour.hpp"

#include "ballast/engine/device/sim/sim_machine.hpp"

namespace ballast::device {
namespace {

enum class Freed { is_gone, stays_cached };

DeviceUnderTest simulated(std::shared_ptr<sim::SimTime> time, Freed freed = Freed::is_gone) {
    machine::MachineProfile profile;
    profile.devices.push_back(
        {.id = {DeviceKind::cuda, 0}, .total = Bytes{std::uint64_t{1} << 30U}});
    profile.links.push_back({.from = kCpu, .to = {DeviceKind::cuda, 0}, .gbps = 1000});
    auto machine = std::make_shared<sim::SimMachine>(profile, std::move(time));
    if (freed == Freed::stays_cached) machine->keep_cache({DeviceKind::cuda, 0});
    auto device = machine->devices().all()[1];
    return {std::move(machine), std::move(device)};
}

INSTANTIATE_TEST_SUITE_P(
    Devices, DeviceBehaviour,
    testing::Values(DeviceCase{"host", [] { return DeviceUnderTest{{}, make_host_device()}; }},
                    DeviceCase{"simulated",
                               [] { return simulated(std::make_shared<sim::VirtualTime>()); }},
                    DeviceCase{"simulated_with_a_cache",
                               [] {
                                   return simulated(std::make_shared<sim::VirtualTime>(),
                                                    Freed::stays_cached);
                               }},
                    DeviceCase{"simulated_in_real_time",
                               [] { return simulated(std::make_shared<sim::RealTime>()); }}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ballast::device
