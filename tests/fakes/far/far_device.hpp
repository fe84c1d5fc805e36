#pragma once
// Two accelerators for libtorch, in a test program only: `privateuseone:0` and `:1`.
//
// They do what cards do and what tests on the processor cannot show: their memory is out of the
// host's reach, copies happen when somebody waits for them, neither reaches the other. Linking
// these sources registers them.

#include <c10/core/Device.h>

#include "tests/fakes/far/far_memory.hpp"
#include "tests/fakes/far/far_streams.hpp"

namespace ballast::testing::far {

inline constexpr c10::DeviceIndex kDevices = 2;
inline constexpr std::size_t kCapacity = std::size_t{256} << 20U;

/// Memory of one device. Lives as long as the process, as do the streams.
FarMemory& memory(c10::DeviceIndex device);
FarStreams& streams();

/// The calling thread's.
c10::Stream current_stream(c10::DeviceIndex device);

/// From now on each call fails, as with a card that fell off the bus; or no longer.
inline void lose(c10::DeviceIndex device) { streams().lose(device, true); }
inline void restore(c10::DeviceIndex device) { streams().lose(device, false); }

}  // namespace ballast::testing::far
