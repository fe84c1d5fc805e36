#include "ballast/engine/device/sim/bus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ballast::device::sim {
namespace {

Error lost(DeviceId device) {
    return {.code = Code::device_lost,
            .what = fmt::format("{} is lost", to_string(device)),
            .why = "the simulated device fell off its bus",
            .hint = "start again without it"};
}

}  // namespace

void Bus::inject(DeviceId device, Faults faults) {
    const std::scoped_lock lock(mutex_);
    injected_[device] = {.faults = faults};
}

void Bus::set_rate(DeviceId from, DeviceId to, std::uint64_t bytes_per_s) {
    const std::scoped_lock lock(mutex_);
    links_.set_rate(from, to, bytes_per_s);
}

bool Bus::is_peer(DeviceId from, DeviceId to) const {
    const std::scoped_lock lock(mutex_);
    return links_.is_peer(from, to);
}

std::vector<LinkUse> Bus::link_use() const {
    const std::scoped_lock lock(mutex_);
    return links_.use();
}

Nanoseconds Bus::take_link(DeviceId from, DeviceId to, Bytes bytes) {
    const std::scoped_lock lock(mutex_);
    return links_.take(from, to, bytes, time_->now());
}

void Bus::keep_cache(DeviceId device) {
    const std::scoped_lock lock(mutex_);
    caching_.insert(device);
}

bool Bus::keeps_cache(DeviceId device) const {
    const std::scoped_lock lock(mutex_);
    return caching_.contains(device);
}

void Bus::count_call(DeviceId device) {
    const std::scoped_lock lock(mutex_);
    ++calls_[device];
}

std::uint64_t Bus::calls(DeviceId device) const {
    const std::scoped_lock lock(mutex_);
    const auto found = calls_.find(device);
    return found == calls_.end() ? 0 : found->second;
}

Result<void> Bus::allow_allocation(DeviceId device) {
    const std::scoped_lock lock(mutex_);
    auto& injected = injected_[device];
    if (injected.is_lost) return fail(lost(device));
    if (++injected.allocations != injected.faults.allocation) return {};
    return fail(Error{.code = Code::out_of_memory,
                      .what = fmt::format("cannot allocate on {}", to_string(device)),
                      .why = "the simulated driver refused",
                      .hint = "place less there"});
}

Result<void> Bus::allow_emptying(DeviceId device) {
    const std::scoped_lock lock(mutex_);
    ++calls_[device];
    const auto& injected = injected_[device];
    if (injected.is_lost) return fail(lost(device));
    if (!injected.faults.empty_cache) return {};
    return fail(Error{.code = Code::io,
                      .what = fmt::format("cannot empty the cache of {}", to_string(device)),
                      .why = "the simulated driver refused",
                      .hint = "try again"});
}

std::shared_ptr<Queue> Bus::open(DeviceId device) {
    const std::scoped_lock lock(mutex_);
    ++calls_[device];
    auto queue = std::make_shared<Queue>();
    queue->device = device;
    std::erase_if(queues_, [](const std::weak_ptr<Queue>& each) { return each.expired(); });
    queues_.push_back(queue);
    return queue;
}

std::optional<Error> Bus::fault_of(DeviceId device) {
    auto& injected = injected_[device];
    if (++injected.copies == injected.faults.lost_at) injected.is_lost = true;
    if (injected.is_lost) return lost(device);
    if (injected.copies != injected.faults.copy) return std::nullopt;
    return Error{.code = Code::io,
                 .what = fmt::format("a copy of {} failed", to_string(device)),
                 .why = "the simulated link reported an error",
                 .hint = "try again"};
}

Result<void> Bus::copy(const std::shared_ptr<Queue>& queue, Target to, Source from) {
    const std::scoped_lock lock(mutex_);
    ++calls_[queue->device];
    if (queue->failure) return fail(*queue->failure);
    if (injected_[queue->device].is_lost) return fail(lost(queue->device));
    const auto start = std::max(time_->now(), queue->ready);
    queue->ready = links_.take(from.device, to.device, Bytes{to.bytes.size()}, start);
    ++queue->queued;
    queue->entries.push_back({.done_at = queue->ready, .to = to, .from = from});
    queue->entries.back().fault = fault_of(queue->device);
    return {};
}

void Bus::order(Queue& queue, const std::shared_ptr<Queue>& other, std::uint64_t count,
                Nanoseconds moment) {
    const std::scoped_lock lock(mutex_);
    ++calls_[queue.device];
    queue.ready = std::max(queue.ready, moment);
    ++queue.queued;
    queue.entries.push_back({.done_at = queue.ready, .after = other, .after_count = count});
}

void Bus::run_due(Queue& queue, std::uint64_t count, Nanoseconds now) {
    while (queue.done < count && !queue.entries.empty() && queue.entries.front().done_at <= now) {
        auto entry = std::move(queue.entries.front());
        queue.entries.pop_front();
        ++queue.done;
        if (entry.after) {
            // events are older than what waits for them: never back to an entry of this queue
            auto& other = *entry.after;
            run_due(other, entry.after_count, entry.done_at);
            if (other.failure && other.failed_at <= entry.after_count) entry.fault = other.failure;
        }
        if (entry.fault && !queue.failure) {
            queue.failure = std::move(entry.fault);
            queue.failed_at = queue.done;
        }
        if (queue.failure || entry.to.bytes.empty()) continue;
        std::memmove(entry.to.bytes.data(), entry.from.bytes.data(), entry.to.bytes.size());
    }
}

Result<void> Bus::wait(Queue& queue, std::uint64_t count, Nanoseconds moment) {
    time_->wait_until(moment);
    const std::scoped_lock lock(mutex_);
    ++calls_[queue.device];
    run_due(queue, count, time_->now());
    if (queue.failure && queue.failed_at <= count) return fail(*queue.failure);
    return {};
}

bool Bus::is_done(Queue& queue, std::uint64_t count) {
    const std::scoped_lock lock(mutex_);
    ++calls_[queue.device];
    run_due(queue, count, time_->now());
    return queue.done >= count;
}

Nanoseconds Bus::ready(const Queue& queue) const {
    const std::scoped_lock lock(mutex_);
    return queue.ready;
}

std::uint64_t Bus::queued(const Queue& queue) const {
    const std::scoped_lock lock(mutex_);
    return queue.queued;
}

template <typename F>
void Bus::finish_queues(const F& is_meant) {
    std::vector<std::shared_ptr<Queue>> meant;
    {
        const std::scoped_lock lock(mutex_);
        for (const auto& each : queues_)
            if (auto queue = each.lock(); queue && is_meant(*queue))
                meant.push_back(std::move(queue));
    }
    // a queue that failed has no copies left that could do harm
    for (const auto& queue : meant) static_cast<void>(wait(*queue, queued(*queue), ready(*queue)));
}

Result<void> Bus::finish(DeviceId device) {
    count_call(device);
    finish_queues([&](const Queue& queue) { return queue.device == device; });
    const std::scoped_lock lock(mutex_);
    if (injected_[device].is_lost) return fail(lost(device));
    return {};
}

void Bus::settle(std::span<const std::byte> memory) {
    const auto touches = [&](const Queue::Entry& entry) {
        const auto is_inside = [&](std::span<const std::byte> part) {
            return !part.empty() && part.data() < memory.data() + memory.size() &&
                   memory.data() < part.data() + part.size();
        };
        return is_inside(entry.to.bytes) || is_inside(entry.from.bytes);
    };
    finish_queues([&](const Queue& queue) { return std::ranges::any_of(queue.entries, touches); });
}

}  // namespace ballast::device::sim
