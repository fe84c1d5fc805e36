#include "ballast/runtime/nodes/workbench.hpp"

#include <algorithm>
#include <utility>

#include "ballast/engine/device/host/host_device.hpp"
#include "ballast/engine/machine/discovery/discover.hpp"
#include "ballast/runtime/nodes/loaded_part.hpp"
#include "ballast/runtime/tensor/accelerator_libraries.hpp"
#include "ballast/runtime/tensor/torch_device.hpp"

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

/// The host, and what libtorch can drive.
std::vector<std::shared_ptr<device::Device>> real_devices(const Log& log) {
    for (const auto& failure : load_accelerator_libraries().failures)
        log.warning(to_string(failure));
    auto devices = torch_devices();
    devices.push_back(device::make_host_device());
    return devices;
}

}  // namespace

Workbench::Workbench(const graph::RuntimeOptions& options)
    : log(options.log), allocation(options.allocation) {
    auto profile = options.profile ? *options.profile : machine::discover({}).profile;
    if (options.is_simulated)
        simulation_ =
            std::make_unique<device::sim::SimMachine>(profile, time_of(options), ledger_.get());
    else
        real_devices_ = std::make_unique<device::DeviceSet>(real_devices(log));
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

WideningBuffer& Workbench::widening(DeviceId compute) {
    const bool is_played = is_simulated(compute);
    auto* device = devices().find(is_played ? kCpu : compute);
    return widening_
        .try_emplace(compute, *ledger_, device->shared_from_this(),
                     is_played ? device::Tag::simulation : device::Tag::widened)
        .first->second;
}

void Workbench::clear_widening() {
    for (auto& [compute, buffer] : widening_) buffer.clear();
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
        if (use->second.limit) device.capacity = std::min(device.capacity, *use->second.limit);
        device.capacity = device.capacity.minus_or_zero(other);
    }
    return machine;
}

Workbench::Traffic Workbench::so_far() const {
    Traffic traffic;
    for (const auto& [ends, count] : transfers_->counts().ways) {
        traffic.ways[ends].copies = count.copies;
        traffic.ways[ends].bytes = count.bytes;
    }
    if (!simulation_) return traffic;
    traffic.compute_ns = simulation_->compute_ns();
    traffic.time = simulation_->time().now();
    for (const auto& link : simulation_->link_use())
        traffic.ways[{link.from, link.to}].busy_ns = link.busy_ns;
    return traffic;
}

void Workbench::reset_streaming() {
    const std::scoped_lock lock(traffic_mutex_);
    before_ = so_far();
}

Workbench::Loading::Loading(Workbench& bench) : bench_(&bench), start_(bench.so_far()) {}

Workbench::Loading::~Loading() {
    const auto now = bench_->so_far();
    const std::scoped_lock lock(bench_->traffic_mutex_);
    auto& before = bench_->before_;
    before.time += now.time - start_.time;
    before.compute_ns += now.compute_ns - start_.compute_ns;
    for (const auto& [ends, way] : now.ways) {
        const auto& earlier = start_.ways[ends];
        auto& skipped = before.ways[ends];
        skipped.copies += way.copies - earlier.copies;
        skipped.bytes += way.bytes.minus_or_zero(earlier.bytes);
        skipped.busy_ns += way.busy_ns - earlier.busy_ns;
    }
}

graph::StreamingReport Workbench::streaming() const {
    graph::StreamingReport report;
    const std::scoped_lock lock(traffic_mutex_);
    const auto now = so_far();
    for (const auto& [ends, way] : now.ways) {
        const auto found = before_.ways.find(ends);
        const auto before = found == before_.ways.end() ? Traffic::Way{} : found->second;
        report.transfers += way.copies - before.copies;
        report.bytes += way.bytes.minus_or_zero(before.bytes);
        report.transfer_seconds =
            std::max(report.transfer_seconds, seconds(way.busy_ns - before.busy_ns));
    }
    report.compute_seconds = seconds(now.compute_ns - before_.compute_ns);
    report.wall_seconds = seconds(static_cast<std::uint64_t>((now.time - before_.time).count()));
    report.bound_seconds = std::max(report.compute_seconds, report.transfer_seconds);
    return report;
}

}  // namespace ballast::runtime::nodes
