#include "tests/verification/world.hpp"

#include "ballast/engine/plan/planner.hpp"

namespace ballast::verification {

using residency::DeviceReading;

void Lines::write(LogLevel level, std::string_view line) {
    if (level == LogLevel::focus) {
        if (line.starts_with(kModelManagementPrefix))
            line.remove_prefix(kModelManagementPrefix.size());
        memory_.emplace_back(line);
    }
    if (level >= LogLevel::warning) warnings_.emplace_back(line);
}

// The registry gets no log of memory: it writes sizes of models in GiB, which at this scale are all
// "0.00GB"; the lines of readings are made for the full size.
World::World(const MachineRow& row, const ScaledMachine& machine)
    : simulation(machine.small, std::make_shared<device::sim::VirtualTime>(), &ledger),
      transfers(simulation.devices(), ledger),
      memory(
          Log({lines}), wall_clock, [this] { return readings(); },
          residency::ModelManagementLines::on),
      registry(ledger, transfers, *this, Log({lines}), {}),
      flow(parts()),
      machine_(&machine) {
    simulation.keep_cache(row.compute);
    for (const auto other : row.others) simulation.keep_cache(other);
}

residency::FreeFlow::Parts World::parts() {
    return {
        .registry = &registry,
        .ledger = &ledger,
        .devices = &simulation.devices(),
        .memory = &memory,
        .clock = &clock,
        .log = Log({lines}),
        .empty_caches =
            [this](machine::EmptyingCall call) {
                const auto available = [this]() -> std::optional<Bytes> {
                    return Bytes{(*machine_->full.host.total).count() / kScale}.minus_or_zero(
                        Bytes{host_used().count() / kScale});
                };
                return emptied.emplace_back(residency::empty_caches(
                    simulation.devices(), {}, call,
                    [this](DeviceId device) { return policy(device); }, available, Log({lines})));
            },
        .release_kept = [] {},
        .host_used = [this] { return host_used(); },
        .checks = residency::FreeFlow::Checks::on};
}

Result<residency::Loading> World::load(const Model& model, std::string_view text,
                                       residency::Retention retention) {
    auto policy = plan::parse_allocation(text, machine_->context);
    if (!policy) return fail(std::move(policy).error());
    const auto make = [&](const plan::PlanMachine& left) {
        return plan::make_plan({.blocks = plan::plan_blocks(model.source.table),
                                .policy = *policy,
                                .machine = left,
                                .activations = kActivations});
    };
    return registry.load(
        {.source = &model.source,
         .retention = residency::RetentionFlag{.value = retention, .is_said = true},
         .plans = {make}});
}

Result<void> World::leave_results(DeviceId compute) {
    auto results = ledger.reserve(kCpu, kResults, device::Tag::results);
    if (!results) return fail(std::move(results).error());
    results_ = *std::move(results);
    if (compute == kCpu) return {};
    auto scratch = simulation.devices().find(compute)->allocate(kActivations);
    if (!scratch) return fail(std::move(scratch).error());
    return {};
}

std::function<void()> World::dropping_results() {
    return [this] {
        results_.release();
        ++results_dropped;
    };
}

std::map<DeviceId, Bytes> World::models_held() const {
    std::map<DeviceId, Bytes> sums;
    for (const auto& [device, use] : ledger.snapshot()) {
        const auto held = use.tag(device::Tag::weights).now + use.tag(device::Tag::ring).now;
        if (device != kDisk && !held.is_zero()) sums[device] = held;
    }
    return sums;
}

std::map<DeviceId, Bytes> World::all_held() const {
    std::map<DeviceId, Bytes> sums;
    for (const auto& [device, use] : ledger.snapshot())
        if (device != kDisk && !use.now.is_zero()) sums[device] = use.now;
    return sums;
}

/// What the host has given to us, in full size: what is ours on the processor, and where a device
/// allocates from the same pool, what it holds and what its allocator keeps.
Bytes World::ours_in_pool() const {
    const auto held = all_held();
    const auto ours = held.find(kCpu);
    Bytes sum = ours == held.end() ? Bytes{} : ours->second;
    for (const auto& device : simulation.devices().all())
        if (device->id() != kCpu && machine_->is_pool(device->id()))
            sum += device->memory().held + device->memory().cached;
    return sum.times(kScale);
}

Bytes World::host_used() const {
    const auto& host = machine_->full.host;
    return host.total->minus_or_zero(*host.available) + ours_in_pool();
}

std::vector<DeviceReading> World::readings() const {
    std::vector<DeviceReading> readings{{kCpu, *machine_->full.host.total, host_used()}};
    for (const auto& device : simulation.devices().all()) {
        if (device->id() == kCpu) continue;
        DeviceReading reading{.device = device->id()};
        const auto* profile = machine::find_device(machine_->full, device->id());
        const auto state = device->memory();
        if (device->is_awake()) {
            reading.total = *profile->total;
            // free is what the system has left, and what the allocator keeps
            reading.used =
                machine_->is_pool(device->id())
                    ? host_used().minus_or_zero(state.cached.times(kScale))
                    : profile->total->minus_or_zero(*profile->free) + state.held.times(kScale);
        }
        readings.push_back(reading);
    }
    return readings;
}

residency::DevicePolicy World::policy(DeviceId device) const {
    const auto& judged = machine_->judged(device);
    return {.memory_class = judged.classification.memory_class,
            .reserve = Bytes{judged.budget.reserve.count() / kScale}};
}

}  // namespace ballast::verification
