#include "ballast/engine/residency/phase.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace ballast::residency {
namespace {

/// The device whose capacity counts what lies on `id`.
DeviceId pool_of(const plan::PlanMachine& machine, DeviceId id) {
    const auto* device = machine.find(id);
    return device != nullptr ? device->pool.value_or(id) : id;
}

void take(plan::PlanMachine& machine, const std::map<DeviceId, Bytes>& held) {
    for (const auto& [id, bytes] : held) {
        const auto pool = pool_of(machine, id);
        for (auto& device : machine.devices)
            if (device.id == id || device.id == pool)
                device.capacity = device.capacity.minus_or_zero(bytes);
    }
}

/// Where more room would make the plan better; empty: it is as good as it gets.
std::set<DeviceId> pressed(const plan::PlanMachine& machine, const plan::Plan& plan) {
    std::set<DeviceId> devices;
    for (const auto& [id, lack] : plan.shortfall) devices.insert(pool_of(machine, id));
    const bool could_be_resident = plan.mode == plan::Mode::automatic && !plan.moved.is_zero();
    if (could_be_resident) devices.insert(pool_of(machine, plan.compute));
    return devices;
}

bool holds_on(const plan::PlanMachine& machine, const Resident& resident,
              const std::set<DeviceId>& devices) {
    return std::ranges::any_of(resident.held, [&](const auto& entry) {
        return !entry.second.is_zero() && devices.contains(pool_of(machine, entry.first));
    });
}

/// Smaller is better.
auto badness(const Phase& phase) {
    return std::tuple(!phase.plan.fits, phase.plan.moved, phase.evicted.size());
}

}  // namespace

std::map<DeviceId, Bytes> held_by(const plan::Plan& plan) {
    auto held = plan.per_device;
    if (!plan.ring.is_zero()) held[plan.compute] += plan.ring;
    std::erase_if(held, [](const auto& entry) { return entry.first.kind == DeviceKind::disk; });
    return held;
}

Phase plan_phase(const plan::PlanMachine& machine, const std::vector<Resident>& residents,
                 const PlanMaker& make) {
    std::vector<std::size_t> gone;
    std::optional<Phase> best;
    for (;;) {
        auto left = machine;
        for (std::size_t i = 0; i < residents.size(); ++i)
            if (std::ranges::find(gone, i) == gone.end()) take(left, residents[i].held);
        Phase phase{.evicted = gone, .plan = make(left)};
        const auto devices = pressed(left, phase.plan);
        if (!best || badness(phase) < badness(*best)) best = std::move(phase);
        if (devices.empty()) return *std::move(best);
        std::size_t next = 0;
        while (next < residents.size() &&
               (!residents[next].is_idle || std::ranges::find(gone, next) != gone.end() ||
                !holds_on(left, residents[next], devices)))
            ++next;
        if (next == residents.size()) return *std::move(best);
        gone.push_back(next);
    }
}

}  // namespace ballast::residency
