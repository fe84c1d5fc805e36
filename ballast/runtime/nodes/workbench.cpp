#include "ballast/runtime/nodes/workbench.hpp"

#include <algorithm>
#include <utility>

#include "ballast/engine/device/host/host_device.hpp"
#include "ballast/engine/machine/discovery/discover.hpp"
#include "ballast/runtime/nodes/loaded_part.hpp"

namespace ballast::runtime::nodes {
namespace {

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

std::shared_ptr<device::sim::SimTime> time_of(const graph::RuntimeOptions& options) {
    if (options.is_real_time) return std::make_shared<device::sim::RealTime>();
    return std::make_shared<device::sim::VirtualTime>();
}

std::vector<DeviceId> ids_of(const device::DeviceSet& devices) {
    std::vector<DeviceId> ids;
    for (const auto& device : devices.all()) ids.push_back(device->id());
    return ids;
}

}  // namespace

Workbench::Workbench(const graph::RuntimeOptions& options)
    : log(options.log), allocation(options.allocation) {
    auto profile = options.profile ? *options.profile : machine::discover({}).profile;
    if (options.is_simulated)
        simulation_ =
            std::make_unique<device::sim::SimMachine>(profile, time_of(options), ledger_.get());
    else
        real_devices_ = std::make_unique<device::DeviceSet>(
            std::vector<std::shared_ptr<device::Device>>{device::make_host_device()});
    const auto& devices = simulation_ ? simulation_->devices() : *real_devices_;
    transfers_ = std::make_unique<device::Transfers>(devices, *ledger_);
    const auto ids = ids_of(devices);
    machine_ = graph::planning_machine(std::move(profile), options.memory, ids);
    for (const auto& [device, limit] : options.memory.limits) ledger_->set_limit(device, limit);
    if (!simulation_) return;
    // the machine that is simulated has no more than it has
    for (const auto& judged : machine_.assessment.devices) {
        const auto most = judged.free.bytes ? judged.free.bytes : judged.total;
        const auto limit = options.memory.limits.find(judged.id);
        if (!most) continue;
        ledger_->set_limit(judged.id, limit == options.memory.limits.end()
                                          ? *most
                                          : std::min(*most, limit->second));
    }
}

Workbench::~Workbench() = default;

void Workbench::clear_widening() {
    widening_.clear();
    simulated_widening_.clear();
}

plan::PlanMachine Workbench::room() const {
    std::map<DeviceId, Bytes> models;
    for (const auto* part : shelf.all())
        for (const auto& [device, bytes] : part->held()) models[device] += bytes;
    const auto snapshot = ledger_->snapshot();
    auto machine = machine_.devices;
    for (auto& device : machine.devices) {
        const auto use = snapshot.find(device.id);
        if (use == snapshot.end()) continue;
        // memory that is only kept for reuse goes when it is needed
        const auto kept =
            use->second.tag(device::Tag::scratch).now + use->second.tag(device::Tag::widened).now;
        const auto other = use->second.now.minus_or_zero(models[device.id]).minus_or_zero(kept);
        device.capacity = device.capacity.minus_or_zero(other);
    }
    return machine;
}

Workbench::Simulated Workbench::simulated_so_far() const {
    if (!simulation_) return {};
    return {simulation_->compute_ns(), simulation_->time().now(), simulation_->link_use()};
}

void Workbench::reset_streaming() {
    transfers_->reset_counts();
    before_ = simulated_so_far();
}

graph::StreamingReport Workbench::streaming() const {
    graph::StreamingReport report;
    for (const auto& [ends, count] : transfers_->counts().ways) {
        report.transfers += count.copies;
        report.bytes += count.bytes;
    }
    const auto now = simulated_so_far();
    report.compute_seconds = seconds(now.compute_ns - before_.compute_ns);
    report.wall_seconds = seconds(static_cast<std::uint64_t>((now.time - before_.time).count()));
    for (const auto& link : now.links) {
        auto busy = link.busy_ns;
        for (const auto& earlier : before_.links)
            if (earlier.from == link.from && earlier.to == link.to) busy -= earlier.busy_ns;
        report.transfer_seconds = std::max(report.transfer_seconds, seconds(busy));
    }
    report.bound_seconds = std::max(report.compute_seconds, report.transfer_seconds);
    return report;
}

}  // namespace ballast::runtime::nodes
