#include "ballast/engine/residency/phase.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "ballast/engine/weights/layout.hpp"

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
    // what fits nowhere yet may have been tried elsewhere than where it will fit
    const bool is_homeless = plan.mode == plan::Mode::automatic && !plan.fits;
    if (is_homeless || fell_back(plan, wanted)) devices.insert(pool_of(machine, wanted));
    return devices;
}

/// Of (device, bytes), whatever holds them.
Bytes total(const auto& entries) {
    Bytes sum;
    for (const auto& entry : entries) sum += entry.second;
    return sum;
}

Bytes missing(const plan::Plan& plan) {
    Bytes sum;
    for (const auto& [device, lack] : plan.shortfall) sum += Bytes{lack.missing()};
    return sum;
}

/// Smaller is better.
auto badness(const plan::Plan& plan, DeviceId wanted) {
    return std::tuple(!plan.fits, missing(plan), fell_back(plan, wanted), plan.moved);
}

}  // namespace

std::map<DeviceId, Bytes> held_by(const plan::Plan& plan) {
    auto held = plan.per_device;
    if (!plan.ring.is_zero()) held[plan.compute] += plan.ring;
    std::erase_if(held, [](const auto& entry) { return entry.first.kind == DeviceKind::disk; });
    return held;
}

Loaded loaded_by(std::string name, const plan::BlockTable& table, const plan::Plan& plan) {
    Loaded loaded{.name = std::move(name), .held = held_by(plan)};
    if (!plan.ring.is_zero()) loaded.tail[plan.compute].push_back(plan.ring);
    const auto layout = weights::lay_out(table, plan.homes);
    for (auto s = layout.segments.size(); s-- > 0;)
        loaded.tail[layout.segments[s].device].push_back(Bytes{layout.segments[s].size});
    return loaded;
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

/// The pieces that a model gives up, on devices of one or several pools.
using Pieces = std::vector<std::pair<DeviceId, Bytes>>;

/// The search for those who make room.
class Search {
public:
    Search(const plan::PlanMachine& machine, const std::vector<Loaded>& residents,
           const PlanMaker& make)
        : machine_(machine), residents_(residents), make_(make) {}

    Phase run() {
        auto best = plan_beside({});
        if (pressed(best.left, best.plan, best.plan.compute).empty() &&
            !could_be_fallback(machine_, best.plan))
            return best;
        // with the room that there is when all have gone that can
        const auto alone = plan_beside(all_idle());
        if (alone.evicted.empty()) return best;
        wanted_ = alone.plan.compute;
        std::optional<Step> last;  // that led to the best one
        auto phase = best;
        while (auto step = next_step(phase)) {
            phase = plan_beside(step->before, *step, step->pieces.size());
            if (badness(phase.plan, wanted_) < badness(best.plan, wanted_)) {
                best = phase;
                last = std::move(step);
            }
        }
        return last ? with_least_of(*last, std::move(best)) : best;
    }

private:
    /// One more model makes room.
    struct Step {
        std::vector<Eviction> before;  ///< who has gone already
        std::size_t index = 0;
        Pieces pieces;
    };

    [[nodiscard]] std::map<DeviceId, Bytes> left_of(std::size_t resident,
                                                    const std::vector<Eviction>& gone) const {
        auto held = residents_[resident].held;
        const auto eviction = std::ranges::find(gone, resident, &Eviction::index);
        if (eviction == gone.end()) return held;
        if (eviction->is_whole()) return {};
        for (const auto& [device, bytes] : eviction->part)
            held[device] = held[device].minus_or_zero(bytes);
        return held;
    }

    [[nodiscard]] Phase plan_beside(std::vector<Eviction> gone) const {
        auto left = machine_;
        for (std::size_t i = 0; i < residents_.size(); ++i) take(left, left_of(i, gone));
        auto plan = make_(left);
        return {.evicted = std::move(gone), .plan = std::move(plan), .left = std::move(left)};
    }

    /// With the first `count` pieces of the step gone, too.
    [[nodiscard]] Phase plan_beside(std::vector<Eviction> gone, const Step& step,
                                    std::size_t count) const {
        auto eviction = std::ranges::find(gone, step.index, &Eviction::index);
        if (eviction == gone.end())
            eviction = gone.insert(gone.end(), Eviction{.index = step.index});
        for (std::size_t i = 0; i < count; ++i)
            eviction->part[step.pieces[i].first] += step.pieces[i].second;
        if (total(eviction->part) == total(residents_[step.index].held)) eviction->part.clear();
        return plan_beside(std::move(gone));
    }

    [[nodiscard]] std::vector<Eviction> all_idle() const {
        std::vector<Eviction> gone;
        for (std::size_t i = 0; i < residents_.size(); ++i)
            if (residents_[i].is_idle) gone.push_back({.index = i});
        return gone;
    }

    /// Smaller goes earlier.
    [[nodiscard]] static auto order_of(const Loaded& resident, Bytes freed) {
        // what is read again for each byte that is freed, in 1024ths
        const auto cost = total(resident.held).times(1024).count() / freed.count();
        // the one that is wanted last goes first
        const auto wanted_from_the_end = ~resident.next_use.value_or(0);
        return std::tuple(resident.standing == Standing::retained, resident.next_use.has_value(),
                          wanted_from_the_end, resident.standing, resident.prompt, cost,
                          resident.last_use);
    }

    /// What the resident could still give up in the pools, from its tail on. One whose tail is
    /// unknown gives up all or nothing.
    [[nodiscard]] Pieces pieces_in(const std::set<DeviceId>& pools, std::size_t index,
                                   const std::vector<Eviction>& gone) const {
        const auto& resident = residents_[index];
        const auto left = left_of(index, gone);
        Pieces pieces;
        for (const auto& [device, bytes] : left) {
            if (bytes.is_zero() || !pools.contains(pool_of(machine_, device))) continue;
            const auto tail = resident.tail.find(device);
            if (tail == resident.tail.end()) return {left.begin(), left.end()};
            // what has gone on a device has gone whole
            for (const auto piece : tail->second) pieces.emplace_back(device, piece);
        }
        return pieces;
    }

    [[nodiscard]] Bytes freed_by(const Pieces& pieces, const std::set<DeviceId>& pools) const {
        Bytes sum;
        for (const auto& [device, bytes] : pieces)
            if (pools.contains(pool_of(machine_, device))) sum += bytes;
        return sum;
    }

    /// Whose going would help, after those who have gone for `phase`.
    [[nodiscard]] std::optional<Step> next_step(const Phase& phase) const {
        const auto pools = pressed(phase.left, phase.plan, wanted_);
        if (pools.empty()) return std::nullopt;
        const bool is_last_resort = !phase.plan.fits || fell_back(phase.plan, wanted_);
        std::optional<Step> next;
        for (std::size_t i = 0; i < residents_.size(); ++i) {
            const auto& resident = residents_[i];
            if (!resident.is_idle) continue;
            if (resident.standing == Standing::retained && !is_last_resort) continue;
            auto pieces = pieces_in(pools, i, phase.evicted);
            const auto freed = freed_by(pieces, pools);
            if (freed.is_zero()) continue;
            if (!next || order_of(resident, freed) <
                             order_of(residents_[next->index], freed_by(next->pieces, pools)))
                next = Step{phase.evicted, i, std::move(pieces)};
        }
        return next;
    }

    /// A plan as good as `best`, for which the last step gives up as little as possible.
    [[nodiscard]] Phase with_least_of(const Step& step, Phase best) const {
        const auto aim = badness(best.plan, wanted_);
        std::size_t too_few = 0;
        auto enough = step.pieces.size();
        while (too_few + 1 < enough) {
            const auto middle = (too_few + enough) / 2;
            auto phase = plan_beside(step.before, step, middle);
            if (badness(phase.plan, wanted_) <= aim) {
                enough = middle;
                best = std::move(phase);
            } else {
                too_few = middle;
            }
        }
        return best;
    }

    const plan::PlanMachine& machine_;
    const std::vector<Loaded>& residents_;
    const PlanMaker& make_;
    DeviceId wanted_{};  ///< what computes when all have gone that can
};

}  // namespace

Phase plan_phase(const plan::PlanMachine& machine, const std::vector<Loaded>& residents,
                 const PlanMaker& make) {
    return Search(machine, residents, make).run();
}

}  // namespace ballast::residency
