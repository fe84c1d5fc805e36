#pragma once
// How long an amount takes at a rate, in whole nanoseconds: the same on every machine.

#include <cstdint>

#include "ballast/engine/core/bytes.hpp"

namespace ballast {

/// amount / per_second in nanoseconds, rounded up; a rate of 0 counts as 1. At most ten years, so
/// that sums of times do not overflow.
std::uint64_t nanoseconds_for(std::uint64_t amount, std::uint64_t per_second);

/// The time that `bytes` take on a way: latency, and bytes over rate rounded up.
std::uint64_t transfer_ns(Bytes bytes, std::uint64_t bytes_per_s, std::uint64_t latency_ns);

}  // namespace ballast
