#include "ballast/engine/plan/cost_model.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <stdexcept>

#include "ballast/engine/core/rate.hpp"

namespace ballast::plan {
namespace {

/// One stretch of a way.
struct Hop {
    std::size_t link = 0;  ///< index of the busy times
    std::uint64_t bytes_per_s = 1;
    std::uint64_t latency_ns = 0;
};

/// Ways from homes to the compute device; links are told apart by their ends.
class Ways {
public:
    Ways(const PlanMachine& machine, DeviceId compute) : machine_(machine), compute_(compute) {}

    const std::vector<Hop>& from(DeviceId home) {
        const auto [place, is_new] = ways_.try_emplace(home);
        if (is_new) place->second = find(home);
        return place->second;
    }
    [[nodiscard]] std::size_t links() const { return numbers_.size(); }

private:
    std::vector<Hop> find(DeviceId home) {
        if (machine_.is_one_pool(home, compute_)) return {};
        if (home.kind == DeviceKind::disk) {
            std::vector<Hop> way{
                {number(home, kCpu), machine_.disk_bytes_per_s, machine_.disk_latency_ns}};
            if (!machine_.is_one_pool(kCpu, compute_)) way.push_back(hop(kCpu, compute_));
            return way;
        }
        return {hop(home, compute_)};
    }

    Hop hop(DeviceId from, DeviceId to) {
        const auto* link = machine_.link(from, to);
        if (link == nullptr) throw std::logic_error("a plan without a way for its bytes");
        return {number(from, to), link->bytes_per_s, link->latency_ns};
    }

    std::size_t number(DeviceId from, DeviceId to) {
        return numbers_.try_emplace({from, to}, numbers_.size()).first->second;
    }

    const PlanMachine& machine_;
    DeviceId compute_;
    std::map<DeviceId, std::vector<Hop>> ways_;
    std::map<std::pair<DeviceId, DeviceId>, std::size_t> numbers_;
};

/// The ring: bytes on their way or in use, oldest first.
class Ring {
public:
    explicit Ring(Bytes size) : size_(size.count()) {}

    /// When `bytes` more have room, given that `now` is the earliest interesting time.
    std::uint64_t room_at(std::uint64_t bytes, std::uint64_t now) {
        while (!held_.empty() && used_ + bytes > size_) {
            now = std::max(now, held_.front().until);
            used_ -= held_.front().bytes;
            held_.pop_front();
        }
        return now;
    }
    void hold(std::uint64_t bytes, std::uint64_t until) {
        held_.push_back({bytes, until});
        used_ += bytes;
    }

private:
    struct Held {
        std::uint64_t bytes;
        std::uint64_t until;
    };
    std::uint64_t size_;
    std::uint64_t used_ = 0;
    std::deque<Held> held_;
};

}  // namespace

StepCost step_cost(std::span<const PlanBlock> blocks, std::span<const DeviceId> homes,
                   DeviceId compute, const PlanMachine& machine, Bytes ring_size) {
    const auto* device = machine.find(compute);
    const std::uint64_t flops = device != nullptr ? device->flops.value_or(0) : 0;  // 0: unknown
    Ways ways(machine, compute);
    std::vector<const std::vector<Hop>*> way_of(homes.size());
    for (std::size_t i = 0; i < homes.size(); ++i)
        way_of[i] = i > 0 && homes[i] == homes[i - 1] ? way_of[i - 1] : &ways.from(homes[i]);
    std::vector<std::uint64_t> busy(ways.links());
    std::vector<std::uint64_t> free_at(ways.links());
    Ring ring(ring_size);
    StepCost cost;
    std::uint64_t computed = 0;  // when the last block was done
    std::uint64_t first_end = 0;
    // the second step has its first blocks prefetched by the first one, as all later steps have
    for (int step = 0; step < 2; ++step) {
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            std::uint64_t arrived = 0;
            const auto& way = *way_of[i];
            const auto bytes = blocks[i].bytes.count();
            if (!way.empty()) {
                arrived = ring.room_at(bytes, 0);
                for (const auto& hop : way) {
                    const auto taken =
                        transfer_ns(blocks[i].bytes, hop.bytes_per_s, hop.latency_ns);
                    free_at[hop.link] = std::max(free_at[hop.link], arrived) + taken;
                    arrived = free_at[hop.link];
                    if (step == 0) busy[hop.link] += taken;
                }
                if (step == 0) cost.moved += blocks[i].bytes;
            }
            const auto work = flops > 0 ? nanoseconds_for(blocks[i].flops.value_or(0), flops) : 0;
            computed = std::max(computed, arrived) + work;
            if (step == 0) cost.compute_ns += work;
            if (!way.empty()) ring.hold(bytes, computed);
        }
        if (step == 0) first_end = computed;
    }
    cost.step_ns = computed - first_end;
    for (const auto time : busy) cost.transfer_ns = std::max(cost.transfer_ns, time);
    return cost;
}

}  // namespace ballast::plan
