#pragma once
// Streams that do nothing until somebody waits.
//
// Work lies in a queue per stream and is done at the last moment: when the host waits for the
// stream, for one of its events, or for the device. So whoever forgets to wait gets what was there
// before, every time.

#include <c10/core/Stream.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

namespace ballast::testing::far {

/// How much of a stream must be done.
struct Mark {
    c10::Device device{c10::kPrivateUse1, 0};
    c10::StreamId stream = 0;
    std::uint64_t position = 0;
};

/// Thread-safe. A device that was lost refuses everything with an `AcceleratorError`.
class FarStreams {
public:
    void queue(const c10::Stream& stream, std::function<void()> work);
    Mark mark(const c10::Stream& stream);
    /// Later work of `stream` begins after the mark.
    void order(const c10::Stream& stream, const Mark& mark);

    bool is_done(const Mark& mark);
    void run(const Mark& mark);
    void run(const c10::Stream& stream) { run(mark(stream)); }
    void run_device(c10::DeviceIndex device);

    c10::StreamId next_of_pool();

    void lose(c10::DeviceIndex device, bool is_lost);
    void check(c10::DeviceIndex device);

private:
    struct Queue {
        std::deque<std::function<void()>> work;
        std::uint64_t queued = 0;
        std::uint64_t done = 0;
    };
    using Key = std::pair<c10::DeviceIndex, c10::StreamId>;

    std::recursive_mutex mutex_;  // work may wait for other streams
    std::map<Key, Queue> queues_;
    std::map<c10::DeviceIndex, bool> lost_;
    c10::StreamId opened_ = 0;
};

}  // namespace ballast::testing::far
