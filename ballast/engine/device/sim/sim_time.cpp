#include "ballast/engine/device/sim/sim_time.hpp"

#include <algorithm>
#include <thread>

namespace ballast::device::sim {

Nanoseconds VirtualTime::now() const {
    const std::scoped_lock lock(mutex_);
    return now_;
}

void VirtualTime::wait_until(Nanoseconds moment) {
    std::unique_lock lock(mutex_);
    if (moment <= now_) return;
    const auto mine = awaited_.insert(moment);
    advance_if_all_wait(lock);
    passed_.wait(lock, [&] { return now_ >= moment; });
    awaited_.erase(mine);
}

void VirtualTime::join() {
    const std::scoped_lock lock(mutex_);
    ++participants_;
}

void VirtualTime::leave() {
    const std::unique_lock lock(mutex_);
    --participants_;
    advance_if_all_wait(lock);
}

void VirtualTime::advance_if_all_wait(const std::unique_lock<std::mutex>&) {
    if (awaited_.empty() || awaited_.size() < std::max<std::size_t>(participants_, 1)) return;
    // whose moment has come already is about to go on: then nothing changes here
    if (*awaited_.begin() <= now_) return;
    now_ = *awaited_.begin();
    passed_.notify_all();
}

void RealTime::wait_until(Nanoseconds moment) {
    const auto left = moment - now();
    if (left > Nanoseconds::zero()) std::this_thread::sleep_for(left);
}

}  // namespace ballast::device::sim
