#include "ballast/engine/plan/cost_model.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "ballast/engine/core/rate.hpp"

namespace ballast::plan {
namespace {

constexpr std::uint64_t kMostSum = ~std::uint64_t{0};

}  // namespace

StepTimer::StepTimer(std::span<const PlanBlock> blocks, std::span<const DeviceId> places,
                     DeviceId compute, const PlanMachine& machine)
    : blocks_(blocks),
      longest_(kMostSum / (6 * std::max<std::uint64_t>(blocks.size(), 1))),
      work_(blocks.size()),
      taken_(blocks.size()) {
    std::map<std::pair<DeviceId, DeviceId>, std::size_t> links;  // told apart by their ends
    const auto number = [&](DeviceId from, DeviceId to) {
        return links.try_emplace({from, to}, links.size()).first->second;
    };
    const auto add = [&](Way& way, DeviceId from) {
        const auto* link = machine.link(from, compute);
        if (link == nullptr) throw std::logic_error("a plan without a way for its bytes");
        way.hops[way.count++] = {number(from, compute), link->bytes_per_s, link->latency_ns};
    };
    for (const auto home : places) {
        auto& way = ways_.emplace_back();
        if (machine.needs_no_copy(home, compute)) continue;
        if (home.kind != DeviceKind::disk) {
            add(way, home);
            continue;
        }
        way.hops[way.count++] = {number(home, kCpu), machine.disk_bytes_per_s,
                                 machine.disk_latency_ns};
        if (!machine.needs_no_copy(kCpu, compute)) add(way, kCpu);
    }
    free_at_.resize(links.size());
    busy_.resize(links.size());

    const auto* device = machine.find(compute);
    const auto flops = device != nullptr ? device->flops.value_or(0) : 0;  // 0: unknown
    if (flops == 0) return;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        work_[i] = std::min(nanoseconds_for(blocks[i].flops.value_or(0), flops), longest_);
}

StepCost StepTimer::operator()(std::span<const PlaceIndex> at, Bytes ring) {
    StepCost cost;
    std::ranges::fill(free_at_, 0);
    std::ranges::fill(busy_, 0);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const auto& way = ways_[at[i]];
        cost.compute_ns += work_[i];
        if (way.count > 0) cost.moved += blocks_[i].bytes;
        for (std::size_t h = 0; h < way.count; ++h) {
            const auto& hop = way.hops[h];
            taken_[i][h] =
                std::min(transfer_ns(blocks_[i].bytes, hop.bytes_per_s, hop.latency_ns), longest_);
            busy_[hop.link] += taken_[i][h];
        }
    }
    ring_.clear();
    std::size_t oldest = 0;
    std::uint64_t in_ring = 0;
    std::uint64_t computed = 0;  // when the last block was done
    std::uint64_t first_end = 0;
    // the second step has its first blocks prefetched by the first one, as all later steps have
    for (int step = 0; step < 2; ++step) {
        first_end = computed;
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const auto& way = ways_[at[i]];
            if (way.count == 0) {
                computed += work_[i];
                continue;
            }
            const auto bytes = blocks_[i].bytes.count();
            std::uint64_t arrived = 0;
            for (; oldest < ring_.size() && in_ring + bytes > ring.count(); ++oldest) {
                arrived = std::max(arrived, ring_[oldest].until);
                in_ring -= ring_[oldest].bytes;
            }
            for (std::size_t h = 0; h < way.count; ++h) {
                auto& free_at = free_at_[way.hops[h].link];
                free_at = std::max(free_at, arrived) + taken_[i][h];
                arrived = free_at;
            }
            computed = std::max(computed, arrived) + work_[i];
            ring_.push_back({bytes, computed});
            in_ring += bytes;
        }
    }
    cost.step_ns = computed - first_end;
    for (const auto time : busy_) cost.transfer_ns = std::max(cost.transfer_ns, time);
    return cost;
}

StepCost step_cost(std::span<const PlanBlock> blocks, std::span<const DeviceId> homes,
                   DeviceId compute, const PlanMachine& machine, Bytes ring) {
    std::vector<DeviceId> places(homes.begin(), homes.end());
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    std::vector<PlaceIndex> at;
    at.reserve(homes.size());
    for (const auto home : homes)
        at.push_back(
            static_cast<PlaceIndex>(std::ranges::lower_bound(places, home) - places.begin()));
    return StepTimer(blocks, places, compute, machine)(at, ring);
}

}  // namespace ballast::plan
