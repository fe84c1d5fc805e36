#include "ballast/engine/core/rate.hpp"

#include <algorithm>

namespace ballast {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr std::uint64_t kNanoseconds = 1'000'000'000;
constexpr std::uint64_t kMostTime = 315'360'000ULL * kNanoseconds;
/// Amounts below it are counted in nanoseconds with 64 bits, which leaves room for the rate.
constexpr std::uint64_t kShortAmount = std::uint64_t{1} << 34U;
constexpr std::uint64_t kShortRate = std::uint64_t{1} << 60U;

std::uint64_t limited(Wide value) {
    return value > kMostTime ? kMostTime : static_cast<std::uint64_t>(value);
}

}  // namespace

std::uint64_t nanoseconds_for(std::uint64_t amount, std::uint64_t per_second) {
    const auto rate = std::max<std::uint64_t>(per_second, 1);
    // planning divides often, and 64 bits are several times faster
    if (amount < kShortAmount && rate < kShortRate)
        return std::min((amount * kNanoseconds + rate - 1) / rate, kMostTime);
    return limited((static_cast<Wide>(amount) * kNanoseconds + rate - 1) / rate);
}

std::uint64_t transfer_ns(Bytes bytes, std::uint64_t bytes_per_s, std::uint64_t latency_ns) {
    return limited(static_cast<Wide>(nanoseconds_for(bytes.count(), bytes_per_s)) + latency_ns);
}

}  // namespace ballast
