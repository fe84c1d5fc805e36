#include "ballast/runtime/nodes/workbench.hpp"

#include <algorithm>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "ballast/engine/device/host/host_device.hpp"
#include "ballast/engine/machine/discovery/discover.hpp"
#include "ballast/runtime/tensor/accelerator_libraries.hpp"
#include "ballast/runtime/tensor/host_allocator.hpp"
#include "ballast/runtime/tensor/torch_device.hpp"

namespace ballast::runtime::nodes {
namespace {

std::shared_ptr<device::sim::SimTime> time_of(const graph::RuntimeOptions& options) {
    if (options.is_real_time) return std::make_shared<device::sim::RealTime>();
    return std::make_shared<device::sim::VirtualTime>();
}

std::vector<DeviceId> ids_of(const device::DeviceSet& devices) {
    std::vector<DeviceId> ids;
    for (const auto& device : devices.all()) ids.push_back(device->id());
    return ids;
}

/// What the C library keeps of freed memory, where it can be asked to give it back.
void return_heap_pages() {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
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

Workbench::Workbench(const graph::RuntimeOptions& options) : log(options.log) {
    auto profile = options.profile ? *options.profile : machine::discover({}).profile;
    if (options.is_simulated)
        simulation_ =
            std::make_unique<device::sim::SimMachine>(profile, time_of(options), ledger_.get());
    else
        real_devices_ = std::make_unique<device::DeviceSet>(real_devices(log));
    const auto& devices = simulation_ ? simulation_->devices() : *real_devices_;
    transfers_ = std::make_unique<device::Transfers>(devices, *ledger_);
    traffic_ = std::make_unique<Traffic>(*transfers_, simulation_.get());
    const auto ids = ids_of(devices);
    machine_ = graph::planning_machine(
        std::move(profile), options.memory, ids,
        simulation_ ? graph::MachineKind::simulated : graph::MachineKind::real);
    machine_.threads = graph::arithmetic_threads(options);
    for (const auto& [device, limit] : options.memory.limits) ledger_->set_limit(device, limit);
    own_models(options);
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

void Workbench::own_models(const graph::RuntimeOptions& options) {
    using residency::MemoryLog;
    std::vector<DeviceId> pool{kCpu};
    for (const auto& device : machine_.devices.devices)
        if (device.id != kCpu && machine_.devices.is_one_pool(kCpu, device.id))
            pool.push_back(device.id);
    host_ = std::make_unique<HostMemory>(simulation_ ? &machine_.profile.host : nullptr,
                                         std::move(pool), *ledger_);
    memory_ = std::make_unique<MemoryLog>(
        log, wall_clock_, [this] { return memory_readings(devices(), *host_); },
        options.logs_memory ? residency::ModelManagementLines::on
                            : residency::ModelManagementLines::off);
    residency::Surroundings& surroundings = *this;
    registry_ = std::make_unique<residency::Registry>(
        *ledger_, *transfers_, surroundings, log,
        residency::Registry::Options{.is_strict = options.retention.is_strict,
                                     .memory = memory_.get()});
    flow_ = std::make_unique<residency::FreeFlow>(residency::FreeFlow::Parts{
        .registry = registry_.get(),
        .ledger = ledger_.get(),
        .devices = &devices(),
        .memory = memory_.get(),
        .clock = &clock,
        .log = log,
        .empty_caches = [this](machine::EmptyingCall call) { return empty_caches(call); },
        .release_kept = [this] { static_cast<void>(release_host_memory()); },
        .host_used = [this] { return host_->used(); },
        .resident = &resident_memory});
}

std::vector<residency::CacheReport> Workbench::empty_caches(machine::EmptyingCall call) {
    const auto policy = [this](DeviceId device) {
        const auto& judged = machine_.assessment.devices;
        const auto found = std::ranges::find(judged, device, &machine::DeviceAssessment::id);
        if (found == judged.end()) return residency::DevicePolicy{};
        return residency::DevicePolicy{.memory_class = found->classification.memory_class,
                                       .reserve = found->budget.reserve};
    };
    return residency::empty_caches(
        devices(), {}, call, policy, [this] { return host_->available(); }, log);
}

Bytes Workbench::release_host_memory() {
    clear_widening();
    transfers_->release_staging();
    const auto released = trim_host_memory();
    return_heap_pages();
    return released;
}

Bytes Workbench::release_kept() {
    auto released = release_host_memory();
    for (const auto& report : empty_caches(machine::EmptyingCall::forced))
        released += report.released;
    return released;
}

plan::PlanMachine Workbench::room(const std::map<DeviceId, Bytes>& held) const {
    const auto snapshot = ledger_->snapshot();
    auto machine = machine_.devices;
    std::map<DeviceId, Bytes> others;
    for (auto& device : machine.devices) {
        const auto use = snapshot.find(device.id);
        if (use == snapshot.end()) continue;
        if (use->second.limit) device.capacity = std::min(device.capacity, *use->second.limit);
        // memory that is only kept for reuse goes when it is needed
        const auto kept = use->second.tag(device::Tag::scratch).now +
                          use->second.tag(device::Tag::widened).now +
                          use->second.tag(device::Tag::staging).now;
        const auto models = held.find(device.id);
        others[device.id] = use->second.now.minus_or_zero(kept).minus_or_zero(
            models == held.end() ? Bytes{} : models->second);
    }
    residency::take(machine, others);
    return machine;
}

}  // namespace ballast::runtime::nodes
