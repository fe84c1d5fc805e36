#include "ballast/engine/plan/automatic.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include "ballast/engine/plan/wide.hpp"

namespace ballast::plan {
namespace {

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
    PlaceIndex place = 0;
    DeviceId device{};
    std::uint64_t bytes_per_s = 1;
    Bytes capacity{};
};

/// `shortfall_of` for what the blocks need by home.
std::map<DeviceId, Shortfall> lacking(const AutomaticRequest& request, DeviceId compute,
                                      std::map<DeviceId, Bytes> needed, Bytes ring) {
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

class Planner {
public:
    Planner(const AutomaticRequest& request, DeviceId compute)
        : request_(request),
          compute_(compute),
          tiers_(find_tiers()),
          places_(find_places()),
          timer_(request.blocks, places_, compute, request.machine) {
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

    /// Tries the usual placements.
    void try_candidates() {
        consider(Places(request_.blocks.size(), kStays), "everything is resident");
        if (best_.fits()) return;
        consider(evenly(Spread::fastest_first), "streamed blocks lie evenly, fastest places first");
        consider(evenly(Spread::all_links), "streamed blocks lie evenly, over all links at once");
        consider(in_device_order(), "devices are filled in their order");
        consider(equal_shares(), "devices get equal shares");
        consider(largest_resident(), "the largest blocks are resident");
    }

    /// Makes the best of them better, if anything travels.
    void refine() {
        if (!best_.fits() || best_.cost.moved.is_zero()) return;
        search_through();
        improve();
    }

    [[nodiscard]] bool fits() const { return best_.fits(); }
    [[nodiscard]] std::uint64_t step_ns() const { return best_.cost.step_ns; }

    [[nodiscard]] AutomaticPlan plan() const {
        AutomaticPlan plan{.compute = compute_,
                           .ring = best_.ring,
                           .cost = best_.cost,
                           .shortfall = best_.shortfall,
                           .method = std::string(best_.method)};
        plan.homes.reserve(best_.places.size());
        for (const auto place : best_.places) plan.homes.push_back(places_[place]);
        return plan;
    }

private:
    /// One place per block: kStays, or that of tier t, which is t + 1.
    using Places = std::vector<PlaceIndex>;
    static constexpr PlaceIndex kStays = 0;

    struct Candidate {
        Places places{};
        Bytes ring{};
        StepCost cost{};
        std::map<DeviceId, Shortfall> shortfall{};
        std::string_view method{};

        [[nodiscard]] bool fits() const { return shortfall.empty(); }
    };

    enum class Spread { fastest_first, all_links };

    [[nodiscard]] bool is_pinned(std::size_t i) const {
        return request_.pinned[i] || !request_.blocks[i].is_fetchable;
    }

    [[nodiscard]] std::vector<Tier> find_tiers() const {
        std::vector<Tier> tiers;
        for (const auto& device : request_.machine.devices) {
            if (request_.machine.is_one_pool(device.id, compute_)) continue;
            const auto* link = request_.machine.link(device.id, compute_);
            if (link != nullptr)
                tiers.push_back({0, device.id, link->bytes_per_s, device.capacity});
        }
        // peers before the host where rates are equal: the host has other uses for its memory
        std::ranges::stable_sort(tiers, [](const Tier& a, const Tier& b) {
            return std::tuple(b.bytes_per_s, a.device == kCpu) <
                   std::tuple(a.bytes_per_s, b.device == kCpu);
        });
        const bool is_disk_reached = request_.machine.is_one_pool(kCpu, compute_) ||
                                     request_.machine.link(kCpu, compute_) != nullptr;
        if (request_.is_file_backed && is_disk_reached)
            tiers.push_back(
                {0, kDisk, request_.machine.disk_bytes_per_s, Bytes{~std::uint64_t{0}}});
        for (std::size_t t = 0; t < tiers.size(); ++t)
            tiers[t].place = static_cast<PlaceIndex>(t + 1);
        return tiers;
    }

    [[nodiscard]] std::vector<DeviceId> find_places() const {
        std::vector<DeviceId> places{compute_};
        for (const auto& tier : tiers_) places.push_back(tier.device);
        return places;
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

    [[nodiscard]] Places evenly(Spread spread) const {
        const auto leaves = leaving(room_with(ring_of(largest_)));
        Places places(request_.blocks.size(), kStays);
        auto tiers = tiers_;
        std::vector<Bytes> given(tiers.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (!leaves[i]) continue;
            const auto bytes = request_.blocks[i].bytes;
            const auto chosen = choose(tiers, given, bytes, spread);
            if (chosen == tiers.size()) continue;  // stays, and shows in the shortfall
            places[i] = tiers[chosen].place;
            tiers[chosen].capacity = tiers[chosen].capacity.minus_or_zero(bytes);
            given[chosen] += bytes;
        }
        return places;
    }

    /// The first tier with room, or the one whose link would be done first.
    static std::size_t choose(const std::vector<Tier>& tiers, const std::vector<Bytes>& given,
                              Bytes bytes, Spread spread) {
        auto best = tiers.size();
        for (std::size_t t = 0; t < tiers.size(); ++t) {
            if (tiers[t].capacity < bytes) continue;
            if (spread == Spread::fastest_first) return t;
            if (best == tiers.size() ||
                is_done_before(tiers[t], given[t] + bytes, tiers[best], given[best] + bytes))
                best = t;
        }
        return best;
    }

    /// Whether a / rate of a < b / rate of b, without dividing.
    static bool is_done_before(const Tier& a, Bytes bytes_a, const Tier& b, Bytes bytes_b) {
        return static_cast<WideBytes>(bytes_a.count()) * b.bytes_per_s <
               static_cast<WideBytes>(bytes_b.count()) * a.bytes_per_s;
    }

    /// Fills devices one after the other, in model order.
    [[nodiscard]] Places filled(const std::vector<Tier>& order) const {
        Places places(request_.blocks.size(), kStays);
        auto left = order;
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (is_pinned(i)) continue;
            const auto bytes = request_.blocks[i].bytes;
            for (auto& tier : left)
                if (tier.capacity >= bytes) {
                    places[i] = tier.place;
                    tier.capacity = tier.capacity.minus_or_zero(bytes);
                    break;
                }
        }
        return places;
    }

    [[nodiscard]] Tier own_tier() const {
        return {kStays, compute_, 0, room_with(ring_of(largest_)).minus_or_zero(pinned_)};
    }

    [[nodiscard]] Places in_device_order() const {
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

    [[nodiscard]] Places equal_shares() const {
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
    [[nodiscard]] Places largest_resident() const {
        Places places(request_.blocks.size(), kStays);
        std::vector<std::size_t> by_size(places.size());
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
                    places[i] = tier.place;
                    tier.capacity = tier.capacity.minus_or_zero(bytes);
                    break;
                }
        }
        return places;
    }

    /// Keeps a placement if it is the best one so far.
    void consider(Places places, std::string_view method) {
        Candidate candidate{.places = std::move(places), .method = method};
        std::vector<Bytes> held(places_.size());
        Bytes largest;
        for (std::size_t i = 0; i < candidate.places.size(); ++i) {
            const auto place = candidate.places[i];
            const auto bytes = request_.blocks[i].bytes;
            held[place] += bytes;
            if (timer_.is_away(place)) largest = std::max(largest, bytes);
        }
        candidate.ring = ring_of(largest);
        std::map<DeviceId, Bytes> needed;
        for (std::size_t place = 0; place < held.size(); ++place)
            if (!held[place].is_zero()) needed[places_[place]] = held[place];
        candidate.shortfall = lacking(request_, compute_, std::move(needed), candidate.ring);
        // what does not fit is only kept while nothing else is known
        if (!candidate.fits() && has_best_) {
            if (!best_.fits() && missing(candidate) < missing(best_)) best_ = std::move(candidate);
            return;
        }
        candidate.cost = timer_(candidate.places, candidate.ring);
        if (has_best_ && best_.fits() && !(rank(candidate) < rank(best_))) return;
        best_ = std::move(candidate);
        has_best_ = true;
    }

    static std::tuple<std::uint64_t, Bytes> rank(const Candidate& candidate) {
        return {std::max(candidate.cost.step_ns, candidate.cost.transfer_ns), candidate.cost.moved};
    }
    static Bytes missing(const Candidate& candidate) {
        Bytes sum;
        for (const auto& [device, shortfall] : candidate.shortfall)
            sum += Bytes{shortfall.missing()};
        return sum;
    }

    void search_through() {
        std::vector<std::size_t> movable;
        for (std::size_t i = 0; i < request_.blocks.size(); ++i)
            if (!is_pinned(i)) movable.push_back(i);
        std::size_t plans = 1;
        for (std::size_t i = 0; i < movable.size(); ++i) {
            plans *= places_.size();
            if (plans > kSearchedThrough) return;
        }
        for (std::size_t number = 0; number < plans; ++number) {
            Places places(request_.blocks.size(), kStays);
            auto rest = number;
            for (const auto i : movable) {
                places[i] = static_cast<PlaceIndex>(rest % places_.size());
                rest /= places_.size();
            }
            consider(std::move(places), "the best of all placements");
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
                for (PlaceIndex place = 0; place < places_.size() && left > 0; ++place) {
                    if (best_.places[i] == place) continue;
                    auto places = best_.places;
                    places[i] = place;
                    consider(std::move(places), best_.method);
                    --left;
                }
                for (std::size_t k = i + 1; k < std::min(count, i + 16) && left > 0; ++k) {
                    if (is_pinned(k) || best_.places[k] == best_.places[i]) continue;
                    auto places = best_.places;
                    std::swap(places[i], places[k]);
                    consider(std::move(places), best_.method);
                    --left;
                }
            }
            is_improving = rank(best_) < before;
        }
    }

    const AutomaticRequest& request_;
    DeviceId compute_;
    std::vector<Tier> tiers_;
    std::vector<DeviceId> places_;  ///< the compute device, then the tiers
    StepTimer timer_;
    Bytes capacity_{};
    Bytes total_{};
    Bytes pinned_{};
    Bytes largest_{};
    Candidate best_{};
    bool has_best_ = false;
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
        if (!machine.needs_no_copy(homes[i], compute)) largest = std::max(largest, blocks[i].bytes);
    return ring_of(largest);
}

std::map<DeviceId, Shortfall> shortfall_of(const AutomaticRequest& request, DeviceId compute,
                                           std::span<const DeviceId> homes, Bytes ring) {
    return lacking(request, compute, bytes_by_home(request.blocks, homes), ring);
}

AutomaticPlan plan_on(const AutomaticRequest& request, DeviceId compute) {
    Planner planner(request, compute);
    planner.try_candidates();
    planner.refine();
    return planner.plan();
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
    std::optional<Planner> best;
    for (const auto* device : candidates) {
        Planner planner(request, device->id);
        planner.try_candidates();
        const bool is_better =
            !best || (planner.fits() && (!best->fits() || planner.step_ns() < best->step_ns()));
        if (is_better) best.emplace(std::move(planner));
    }
    if (best && best->fits()) {
        best->refine();
        return best->plan();
    }
    auto on_cpu = plan_on(request, kCpu);
    return best && !on_cpu.fits() ? best->plan() : std::move(on_cpu);
}

}  // namespace ballast::plan
