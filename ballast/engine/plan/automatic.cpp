#include "ballast/engine/plan/automatic.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include "ballast/engine/core/rate.hpp"
#include "ballast/engine/plan/wide.hpp"

namespace ballast::plan {
namespace {

constexpr DeviceId kDisk{DeviceKind::disk, 0};
/// Slots of the ring begin at multiples of it.
constexpr std::uint64_t kSlotAlignment = 64;

/// Two slots for blocks of up to `largest` bytes.
Bytes ring_of(Bytes largest) {
    const auto lines = largest.count() / kSlotAlignment + (largest.count() % kSlotAlignment != 0);
    return Bytes{lines}.times(2 * kSlotAlignment);
}
/// Plans that are tried one by one when there are no more of them.
constexpr std::size_t kSearchedThrough = 20'000;
/// Blocks that the evaluations of an improvement may look at, all together.
constexpr std::size_t kImprovementWork = 200'000;
/// Compute devices that are planned for in full; of more, the most promising ones.
constexpr std::size_t kMostComputeDevices = 4;

/// A place for streamed blocks, best first.
struct Tier {
    DeviceId device{};
    std::uint64_t bytes_per_s = 1;
    Bytes capacity{};
};

class Planner {
public:
    Planner(const AutomaticRequest& request, DeviceId compute)
        : request_(request), compute_(compute), tiers_(find_tiers()) {
        const auto* device = request.machine.find(compute);
        capacity_ = device != nullptr ? device->capacity : Bytes{};
        for (std::size_t i = 0; i < request.blocks.size(); ++i) {
            total_ += request.blocks[i].bytes;
            if (is_pinned(i))
                pinned_ += request.blocks[i].bytes;
            else
                largest_ = std::max(largest_, request.blocks[i].bytes);
        }
    }

    enum class Effort { candidates, improved };

    AutomaticPlan best(Effort effort) {
        consider(std::vector(request_.blocks.size(), compute_), "everything is resident");
        if (best_.fits()) return std::move(best_);
        consider(evenly(Spread::fastest_first), "streamed blocks lie evenly, fastest places first");
        consider(evenly(Spread::all_links), "streamed blocks lie evenly, over all links at once");
        consider(in_device_order(), "devices are filled in their order");
        consider(equal_shares(), "devices get equal shares");
        consider(largest_resident(), "the largest blocks are resident");
        if (best_.fits() && effort == Effort::improved) {
            search_through();
            improve();
        }
        return std::move(best_);
    }

private:
    enum class Spread { fastest_first, all_links };

    [[nodiscard]] bool is_pinned(std::size_t i) const {
        return request_.pinned[i] || !request_.blocks[i].is_fetchable;
    }

    [[nodiscard]] std::vector<Tier> find_tiers() const {
        std::vector<Tier> tiers;
        for (const auto& device : request_.machine.devices) {
            if (request_.machine.is_one_pool(device.id, compute_)) continue;
            const auto* link = request_.machine.link(device.id, compute_);
            if (link != nullptr) tiers.push_back({device.id, link->bytes_per_s, device.capacity});
        }
        // peers before the host where rates are equal: the host has other uses for its memory
        std::ranges::stable_sort(tiers, [](const Tier& a, const Tier& b) {
            return std::tuple(b.bytes_per_s, a.device == kCpu) <
                   std::tuple(a.bytes_per_s, b.device == kCpu);
        });
        if (request_.is_file_backed)
            tiers.push_back({kDisk, request_.machine.disk_bytes_per_s, Bytes{~std::uint64_t{0}}});
        return tiers;
    }

    [[nodiscard]] Bytes room_with(Bytes ring) const {
        return capacity_.minus_or_zero(request_.activations).minus_or_zero(ring);
    }

    /// Blocks that leave the compute device: as few bytes as must, as evenly as can be.
    [[nodiscard]] std::vector<bool> leaving(Bytes room) const {
        std::vector<bool> leaves(request_.blocks.size(), false);
        const auto movable = total_.minus_or_zero(pinned_).count();
        const auto must = total_.minus_or_zero(room).count();
        if (must == 0 || movable == 0) return leaves;
        WideBytes passed = 0;
        std::uint64_t gone = 0;
        for (std::size_t i = 0; i < leaves.size() && gone < must; ++i) {
            if (is_pinned(i)) continue;
            passed += request_.blocks[i].bytes.count();
            // after this block, gone : must should be passed : movable
            if (static_cast<WideBytes>(gone) * movable >= passed * must) continue;
            leaves[i] = true;
            gone += request_.blocks[i].bytes.count();
        }
        for (std::size_t i = leaves.size(); i-- > 0 && gone < must;)
            if (!is_pinned(i) && !leaves[i]) {
                leaves[i] = true;
                gone += request_.blocks[i].bytes.count();
            }
        return leaves;
    }

    std::vector<DeviceId> evenly(Spread spread) const {
        const auto leaves = leaving(room_with(ring_of(largest_)));
        auto homes = std::vector(request_.blocks.size(), compute_);
        auto tiers = tiers_;
        std::vector<std::uint64_t> given(tiers.size());
        for (std::size_t i = 0; i < homes.size(); ++i) {
            if (!leaves[i]) continue;
            const auto bytes = request_.blocks[i].bytes;
            const auto chosen = choose(tiers, given, bytes, spread);
            if (chosen == tiers.size()) continue;  // stays, and shows in the shortfall
            homes[i] = tiers[chosen].device;
            tiers[chosen].capacity = tiers[chosen].capacity.minus_or_zero(bytes);
            given[chosen] += bytes.count();
        }
        return homes;
    }

    /// The first tier with room, or the one whose link would be done first.
    static std::size_t choose(const std::vector<Tier>& tiers,
                              const std::vector<std::uint64_t>& given, Bytes bytes, Spread spread) {
        auto best = tiers.size();
        std::uint64_t best_time = 0;
        for (std::size_t t = 0; t < tiers.size(); ++t) {
            if (tiers[t].capacity < bytes) continue;
            if (spread == Spread::fastest_first) return t;
            const auto time = transfer_ns(Bytes{given[t]} + bytes, tiers[t].bytes_per_s, 0);
            if (best == tiers.size() || time < best_time) {
                best = t;
                best_time = time;
            }
        }
        return best;
    }

    /// Fills devices one after the other, in model order.
    std::vector<DeviceId> filled(const std::vector<Tier>& order) const {
        auto homes = std::vector(request_.blocks.size(), compute_);
        auto left = order;
        for (std::size_t i = 0; i < homes.size(); ++i) {
            if (is_pinned(i)) continue;
            const auto bytes = request_.blocks[i].bytes;
            for (auto& tier : left)
                if (tier.capacity >= bytes) {
                    homes[i] = tier.device;
                    tier.capacity = tier.capacity.minus_or_zero(bytes);
                    break;
                }
        }
        return homes;
    }

    [[nodiscard]] Tier own_tier() const {
        return {compute_, 0, room_with(ring_of(largest_)).minus_or_zero(pinned_)};
    }

    std::vector<DeviceId> in_device_order() const {
        std::vector<Tier> order;
        for (const auto& device : request_.machine.devices) {
            if (device.id == compute_) order.push_back(own_tier());
            for (const auto& tier : tiers_)
                if (tier.device == device.id && device.id != kCpu) order.push_back(tier);
        }
        for (const auto& tier : tiers_)
            if (tier.device == kCpu || tier.device == kDisk) order.push_back(tier);
        return filled(order);
    }

    std::vector<DeviceId> equal_shares() const {
        std::vector<Tier> order{own_tier()};
        for (const auto& tier : tiers_)
            if (tier.device != kDisk) order.push_back(tier);
        const auto share = total_.minus_or_zero(pinned_).count() / order.size() + 1;
        for (auto& tier : order) tier.capacity = std::min(tier.capacity, Bytes{share} + largest_);
        for (const auto& tier : tiers_)
            if (tier.device == kDisk) order.push_back(tier);
        return filled(order);
    }

    /// ComfyUI keeps what is dearest to stream, the largest, and parks the rest in host memory.
    std::vector<DeviceId> largest_resident() const {
        auto homes = std::vector(request_.blocks.size(), compute_);
        std::vector<std::size_t> by_size(homes.size());
        for (std::size_t i = 0; i < by_size.size(); ++i) by_size[i] = i;
        std::ranges::stable_sort(by_size, std::ranges::greater{},
                                 [&](std::size_t i) { return request_.blocks[i].bytes; });
        auto own = own_tier();
        auto tiers = tiers_;
        std::ranges::stable_sort(tiers, [](const Tier& a, const Tier& b) {
            return (a.device == kCpu) > (b.device == kCpu);
        });
        for (const auto i : by_size) {
            if (is_pinned(i)) continue;
            const auto bytes = request_.blocks[i].bytes;
            if (own.capacity >= bytes) {
                own.capacity = own.capacity.minus_or_zero(bytes);
                continue;
            }
            for (auto& tier : tiers)
                if (tier.capacity >= bytes) {
                    homes[i] = tier.device;
                    tier.capacity = tier.capacity.minus_or_zero(bytes);
                    break;
                }
        }
        return homes;
    }

    void consider(std::vector<DeviceId> homes, std::string_view method) {
        AutomaticPlan plan{.compute = compute_, .homes = std::move(homes)};
        plan.ring = ring_for(request_.blocks, plan.homes, compute_, request_.machine);
        plan.shortfall = shortfall_of(request_, compute_, plan.homes, plan.ring);
        plan.method = method;
        // what does not fit is only kept while nothing else is known
        if (!plan.fits() && !best_.homes.empty()) {
            if (!best_.fits() && missing(plan) < missing(best_)) best_ = std::move(plan);
            return;
        }
        plan.cost = step_cost(request_.blocks, plan.homes, compute_, request_.machine, plan.ring);
        const bool is_better = best_.homes.empty() || !best_.fits() || rank(plan) < rank(best_);
        if (is_better) best_ = std::move(plan);
    }

    static std::tuple<std::uint64_t, Bytes> rank(const AutomaticPlan& plan) {
        return {std::max(plan.cost.step_ns, plan.cost.transfer_ns), plan.cost.moved};
    }
    static Bytes missing(const AutomaticPlan& plan) {
        Bytes sum;
        for (const auto& [device, shortfall] : plan.shortfall) sum += Bytes{shortfall.missing()};
        return sum;
    }

    void search_through() {
        std::vector<std::size_t> movable;
        for (std::size_t i = 0; i < request_.blocks.size(); ++i)
            if (!is_pinned(i)) movable.push_back(i);
        const auto places = tiers_.size() + 1;
        std::size_t plans = 1;
        for (std::size_t i = 0; i < movable.size(); ++i) {
            plans *= places;
            if (plans > kSearchedThrough) return;
        }
        for (std::size_t number = 0; number < plans; ++number) {
            auto homes = std::vector(request_.blocks.size(), compute_);
            auto rest = number;
            for (const auto i : movable) {
                if (rest % places > 0) homes[i] = tiers_[rest % places - 1].device;
                rest /= places;
            }
            consider(std::move(homes), "the best of all placements");
        }
    }

    /// Moves single blocks, and swaps a resident with a streamed one, while that helps.
    void improve() {
        const auto count = request_.blocks.size();
        if (count == 0) return;
        auto left = kImprovementWork / count;
        for (bool is_improving = true; is_improving && left > 0;) {
            const auto before = rank(best_);
            for (std::size_t i = 0; i < count && left > 0; ++i) {
                if (is_pinned(i)) continue;
                for (std::size_t t = 0; t <= tiers_.size() && left > 0; ++t) {
                    const auto home = t == 0 ? compute_ : tiers_[t - 1].device;
                    if (best_.homes[i] == home) continue;
                    auto homes = best_.homes;
                    homes[i] = home;
                    consider(std::move(homes), best_.method);
                    --left;
                }
                for (std::size_t k = i + 1; k < std::min(count, i + 16) && left > 0; ++k) {
                    if (is_pinned(k) || best_.homes[k] == best_.homes[i]) continue;
                    auto homes = best_.homes;
                    std::swap(homes[i], homes[k]);
                    consider(std::move(homes), best_.method);
                    --left;
                }
            }
            is_improving = rank(best_) < before;
        }
    }

    const AutomaticRequest& request_;
    DeviceId compute_;
    std::vector<Tier> tiers_;
    Bytes capacity_{};
    Bytes total_{};
    Bytes pinned_{};
    Bytes largest_{};
    AutomaticPlan best_{};
};

}  // namespace

std::map<DeviceId, Bytes> bytes_by_home(std::span<const PlanBlock> blocks,
                                        std::span<const DeviceId> homes) {
    std::map<DeviceId, Bytes> sums;
    for (std::size_t i = 0; i < blocks.size(); ++i) sums[homes[i]] += blocks[i].bytes;
    return sums;
}

Bytes ring_for(std::span<const PlanBlock> blocks, std::span<const DeviceId> homes, DeviceId compute,
               const PlanMachine& machine) {
    Bytes largest;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        if (!machine.is_one_pool(homes[i], compute)) largest = std::max(largest, blocks[i].bytes);
    return ring_of(largest);
}

std::map<DeviceId, Shortfall> shortfall_of(const AutomaticRequest& request, DeviceId compute,
                                           std::span<const DeviceId> homes, Bytes ring) {
    auto needed = bytes_by_home(request.blocks, homes);
    needed[compute] += ring + request.activations;
    for (const auto& device : request.machine.devices) {
        if (!device.pool || !needed.contains(device.id)) continue;
        needed[*device.pool] += needed[device.id];
        needed.erase(device.id);
    }
    std::map<DeviceId, Shortfall> shortfall;
    for (const auto& [id, bytes] : needed) {
        if (id.kind == DeviceKind::disk && request.is_file_backed) continue;
        const auto* device = request.machine.find(id);
        const auto available = device != nullptr ? device->capacity : Bytes{};
        if (bytes > available) shortfall[id] = {bytes.count(), available.count()};
    }
    return shortfall;
}

AutomaticPlan plan_on(const AutomaticRequest& request, DeviceId compute) {
    return Planner(request, compute).best(Planner::Effort::improved);
}

AutomaticPlan plan_automatically(const AutomaticRequest& request) {
    std::vector<const PlanDevice*> candidates;
    for (const auto& device : request.machine.devices)
        if (device.computes && device.id != kCpu) candidates.push_back(&device);
    // more memory streams less; of equal ones the faster
    std::ranges::stable_sort(candidates, [](const auto* a, const auto* b) {
        return std::tuple(a->capacity, a->flops) > std::tuple(b->capacity, b->flops);
    });
    if (candidates.size() > kMostComputeDevices) candidates.resize(kMostComputeDevices);
    std::optional<AutomaticPlan> best;
    for (const auto* device : candidates) {
        auto plan = Planner(request, device->id).best(Planner::Effort::candidates);
        const bool is_better = !best || (plan.fits() && !best->fits()) ||
                               (plan.fits() && plan.cost.step_ns < best->cost.step_ns);
        if (is_better) best = std::move(plan);
    }
    if (best && best->fits()) return plan_on(request, best->compute);
    auto on_cpu = plan_on(request, kCpu);
    return best && !on_cpu.fits() ? *std::move(best) : std::move(on_cpu);
}

}  // namespace ballast::plan
