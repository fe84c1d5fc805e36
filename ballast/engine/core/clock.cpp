#include "ballast/engine/core/clock.hpp"

namespace ballast {

Nanoseconds RealClock::now() const {
    return std::chrono::duration_cast<Nanoseconds>(
        std::chrono::steady_clock::now().time_since_epoch());
}

Nanoseconds VirtualClock::now() const { return Nanoseconds{now_.load()}; }

void VirtualClock::advance(Nanoseconds by) { now_.fetch_add(by.count()); }

}  // namespace ballast
