#include "ballast/engine/device/sim/sim_machine.hpp"

#include "ballast/engine/core/rate.hpp"
#include "ballast/engine/device/host/host_device.hpp"
#include "ballast/engine/device/sim/bus.hpp"
#include "ballast/engine/device/sim/sim_device.hpp"

namespace ballast::device::sim {
namespace {

std::vector<machine::LinkRate> rates_of(const machine::MachineProfile& profile) {
    std::vector<DeviceId> ids{kCpu};
    for (const auto& device : profile.devices) ids.push_back(device.id);
    auto rates = machine::link_rates(profile, ids);
    const auto disk = machine::disk_rate(profile);
    rates.push_back({.from = kDisk,
                     .to = kCpu,
                     .bytes_per_s = disk.bytes_per_s,
                     .latency_ns = disk.latency_ns,
                     .is_assumed = disk.is_assumed});
    return rates;
}

DeviceSet devices_of(const machine::MachineProfile& profile, const std::shared_ptr<Bus>& bus,
                     Ledger* ledger) {
    std::vector<std::shared_ptr<Device>> devices{make_host_device()};
    for (const auto& device : profile.devices)
        devices.push_back(make_sim_device(device, bus, ledger));
    return DeviceSet(std::move(devices));
}

}  // namespace

SimMachine::SimMachine(const machine::MachineProfile& profile, std::shared_ptr<SimTime> time,
                       Ledger* ledger)
    : bus_(std::make_shared<Bus>(std::move(time), rates_of(profile))),
      devices_(devices_of(profile, bus_, ledger)) {
    for (const auto& device : profile.devices)
        if (const auto rate = machine::flops_per_second(device)) flops_per_s_[device.id] = *rate;
    if (profile.processor)
        if (const auto rate = machine::flops_per_second(*profile.processor))
            flops_per_s_[kCpu] = *rate;
}

SimTime& SimMachine::time() const { return bus_->time(); }

void SimMachine::inject(DeviceId device, Faults faults) { bus_->inject(device, faults); }

void SimMachine::set_rate(DeviceId from, DeviceId to, std::uint64_t bytes_per_s) {
    bus_->set_rate(from, to, bytes_per_s);
}

void SimMachine::keep_cache(DeviceId device) { bus_->keep_cache(device); }

std::uint64_t SimMachine::calls(DeviceId device) const { return bus_->calls(device); }

void SimMachine::compute(DeviceId device, std::uint64_t flops) {
    const auto rate = flops_per_s_.find(device);
    if (rate == flops_per_s_.end() || flops == 0) return;
    const auto taken = nanoseconds_for(flops, rate->second);
    compute_ns_ += taken;
    time().wait_until(time().now() + Nanoseconds{static_cast<Nanoseconds::rep>(taken)});
}

void SimMachine::read_disk(Bytes bytes) { time().wait_until(bus_->take_link(kDisk, kCpu, bytes)); }

std::vector<LinkUse> SimMachine::link_use() const { return bus_->link_use(); }

}  // namespace ballast::device::sim
