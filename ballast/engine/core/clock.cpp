#include "ballast/engine/core/clock.hpp"

#include <fmt/format.h>

namespace ballast {

Nanoseconds RealClock::now() const {
    return std::chrono::duration_cast<Nanoseconds>(
        std::chrono::steady_clock::now().time_since_epoch());
}

Nanoseconds VirtualClock::now() const { return Nanoseconds{now_.load()}; }

void VirtualClock::advance(Nanoseconds by) { now_.fetch_add(by.count()); }

UtcTime RealWallClock::utc() const {
    return std::chrono::floor<UtcTime::duration>(std::chrono::system_clock::now());
}

FixedWallClock::FixedWallClock(UtcTime at) : since_epoch_(at.time_since_epoch().count()) {}

UtcTime FixedWallClock::utc() const { return UtcTime{UtcTime::duration{since_epoch_.load()}}; }

void FixedWallClock::set(UtcTime at) { since_epoch_.store(at.time_since_epoch().count()); }

std::string utc_text(UtcTime time, SecondDigits digits) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{time - day};
    auto text =
        fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}", int{date.year()},
                    unsigned{date.month()}, unsigned{date.day()}, clock.hours().count(),
                    clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
    constexpr std::size_t kBeyondMilliseconds = 3;
    if (digits == SecondDigits::milliseconds) text.resize(text.size() - kBeyondMilliseconds);
    return text + 'Z';
}

}  // namespace ballast
