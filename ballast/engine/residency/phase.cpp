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

/// Whether a lack of room alone makes the processor compute. `wanted` computes when all go that
/// can.
bool fell_back(const plan::Plan& plan, DeviceId wanted) {
    return plan.mode == plan::Mode::automatic && plan.compute == kCpu && wanted != kCpu;
}

/// The same, as far as one can tell without planning for more room.
bool could_be_fallback(const plan::PlanMachine& machine, const plan::Plan& plan) {
    return std::ranges::any_of(machine.devices, [&](const plan::PlanDevice& device) {
        return device.computes && fell_back(plan, device.id);
    });
}

/// Where more room would make the plan better; empty: it is as good as it gets.
std::set<DeviceId> pressed(const plan::PlanMachine& machine, const plan::Plan& plan,
                           DeviceId wanted) {
    std::set<DeviceId> devices;
    for (const auto& [id, lack] : plan.shortfall) devices.insert(pool_of(machine, id));
    const bool could_be_resident = plan.mode == plan::Mode::automatic && !plan.moved.is_zero();
    if (could_be_resident) devices.insert(pool_of(machine, plan.compute));
    if (fell_back(plan, wanted)) devices.insert(pool_of(machine, wanted));
    return devices;
}

bool holds_on(const plan::PlanMachine& machine, const Loaded& resident,
              const std::set<DeviceId>& devices) {
    return std::ranges::any_of(resident.held, [&](const auto& entry) {
        return !entry.second.is_zero() && devices.contains(pool_of(machine, entry.first));
    });
}

Bytes missing(const plan::Plan& plan) {
    Bytes sum;
    for (const auto& [device, lack] : plan.shortfall) sum += Bytes{lack.missing()};
    return sum;
}

/// Smaller is better.
auto badness(const Phase& phase, DeviceId wanted) {
    return std::tuple(!phase.plan.fits, missing(phase.plan), fell_back(phase.plan, wanted),
                      phase.plan.moved, phase.evicted.size());
}

}  // namespace

std::map<DeviceId, Bytes> held_by(const plan::Plan& plan) {
    auto held = plan.per_device;
    if (!plan.ring.is_zero()) held[plan.compute] += plan.ring;
    std::erase_if(held, [](const auto& entry) { return entry.first.kind == DeviceKind::disk; });
    return held;
}

void take(plan::PlanMachine& machine, const std::map<DeviceId, Bytes>& held) {
    for (const auto& [id, bytes] : held) {
        const auto pool = pool_of(machine, id);
        for (auto& device : machine.devices)
            if (device.id == id || device.id == pool)
                device.capacity = device.capacity.minus_or_zero(bytes);
    }
}

Bytes room_on(const plan::PlanMachine& machine, DeviceId device) {
    const auto* pool = machine.find(pool_of(machine, device));
    return pool != nullptr ? pool->capacity : Bytes{};
}

namespace {

plan::PlanMachine beside(plan::PlanMachine machine, const std::vector<Loaded>& residents,
                         const auto& stays) {
    for (std::size_t i = 0; i < residents.size(); ++i)
        if (stays(i)) take(machine, residents[i].held);
    return machine;
}

}  // namespace

Phase plan_phase(const plan::PlanMachine& machine, const std::vector<Loaded>& residents,
                 const PlanMaker& make) {
    auto as_it_is = beside(machine, residents, [](std::size_t) { return true; });
    auto first = make(as_it_is);
    if (pressed(as_it_is, first, first.compute).empty() && !could_be_fallback(machine, first))
        return {.plan = std::move(first), .left = std::move(as_it_is)};
    // with the room that there is when all have gone that can
    auto most = beside(machine, residents, [&](std::size_t i) { return !residents[i].is_idle; });
    auto alone = make(most);
    if (std::ranges::none_of(residents, &Loaded::is_idle))
        return {.plan = std::move(alone), .left = std::move(most)};
    const auto wanted = alone.compute;
    std::vector<std::size_t> gone;
    std::optional<Phase> best;
    for (;;) {
        auto left = beside(machine, residents,
                           [&](std::size_t i) { return std::ranges::find(gone, i) == gone.end(); });
        Phase phase{.evicted = gone, .plan = make(left), .left = left};
        const auto devices = pressed(left, phase.plan, wanted);
        if (!best || badness(phase, wanted) < badness(*best, wanted)) best = std::move(phase);
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
