#include "tests/fakes/far/far_streams.hpp"

#include <c10/util/Exception.h>

#include <utility>

namespace ballast::testing::far {
namespace {

/// Streams of the pool are handed out in turn, as cards do it.
constexpr c10::StreamId kPool = 8;
/// cudaErrorLaunchFailure.
constexpr std::int32_t kLaunchFailure = 719;

}  // namespace

void FarStreams::check(c10::DeviceIndex device) {
    const std::scoped_lock lock(mutex_);
    if (!lost_[device]) return;
    throw c10::AcceleratorError({__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)},
                                kLaunchFailure, "the far device fell off the bus");
}

void FarStreams::lose(c10::DeviceIndex device, bool is_lost) {
    const std::scoped_lock lock(mutex_);
    lost_[device] = is_lost;
    if (!is_lost) return;
    for (auto& [key, queue] : queues_) {
        if (key.first != device) continue;
        queue.work.clear();
        queue.done = queue.queued;
    }
}

void FarStreams::queue(const c10::Stream& stream, std::function<void()> work) {
    const std::scoped_lock lock(mutex_);
    check(stream.device_index());
    auto& queue = queues_[{stream.device_index(), stream.id()}];
    queue.work.push_back(std::move(work));
    ++queue.queued;
}

Mark FarStreams::mark(const c10::Stream& stream) {
    const std::scoped_lock lock(mutex_);
    check(stream.device_index());
    return {stream.device(), stream.id(), queues_[{stream.device_index(), stream.id()}].queued};
}

void FarStreams::order(const c10::Stream& stream, const Mark& mark) {
    queue(stream, [this, mark] { run(mark); });
}

bool FarStreams::is_done(const Mark& mark) {
    const std::scoped_lock lock(mutex_);
    check(mark.device.index());
    return queues_[{mark.device.index(), mark.stream}].done >= mark.position;
}

void FarStreams::run(const Mark& mark) {
    const std::scoped_lock lock(mutex_);
    check(mark.device.index());
    auto& queue = queues_[{mark.device.index(), mark.stream}];
    while (queue.done < mark.position) {
        const auto work = std::move(queue.work.front());
        queue.work.pop_front();
        ++queue.done;
        work();
    }
}

void FarStreams::run_device(c10::DeviceIndex device) {
    const std::scoped_lock lock(mutex_);
    check(device);
    for (auto& [key, queue] : queues_)
        if (key.first == device) run(Mark{{c10::kPrivateUse1, device}, key.second, queue.queued});
}

c10::StreamId FarStreams::next_of_pool() {
    const std::scoped_lock lock(mutex_);
    return 1 + opened_++ % kPool;
}

}  // namespace ballast::testing::far
