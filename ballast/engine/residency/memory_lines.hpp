#pragma once
// The lines in which ComfyUI-MultiGPU's log tells of memory, to the character, so that who reads
// its logs reads ours. "GB" in them means GiB, "mb" MiB, with two decimals, rounded to the nearest
// and from the middle to the even one. Pure functions.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/core/device_id.hpp"

namespace ballast::residency {

/// One device at one instant. `used` is what nobody could get now: all but what the system calls
/// free and what the allocator keeps for reuse; zero where those are more than there is.
struct DeviceReading {
    DeviceId device{};
    Bytes total{};
    Bytes used{};

    bool operator==(const DeviceReading&) const = default;
};

/// `2026-01-02T03:04:05.678Z general_pre-empty:cuda:0            cpu|45.38 cuda:0|19.83`:
/// identifier and tag in 35 columns, or more if they are longer; what is used on cpu, then on the
/// others in the order of their texts (cuda:10 before cuda:2).
std::string snapshot_line(UtcTime time, std::string_view identifier, std::string_view tag,
                          const std::vector<DeviceReading>& readings);

/// `tag=after_vae|cpu=31.20/62.70|cuda:0=8.11/23.56`: used and total, in the same order. Devices
/// whose total is zero are unknown and left out.
std::string load_line(std::string_view tag, const std::vector<DeviceReading>& readings);

/// What a request to free memory changed.
struct Cleanup {
    std::string_view reason{};
    std::size_t models_before = 0;
    std::size_t models_after = 0;
    Bytes cpu_before{};  ///< used memory of the host
    Bytes cpu_after{};
};

/// `[ManagerMatch] Cleanup requested (reason=manual) | models 3->3, cpu_delta_mb=0.25`: less used
/// than before has a minus sign, even where the digits are zeros, as Python prints it.
std::string manager_parity_line(const Cleanup& cleanup);

/// `[FREE_MEMORY_CALL] Device cuda:0: requesting 6.72GB = 5.03GB * 1.1 + 1.19GB inference`: the sum
/// is made here, of exact values. `missing` is what is still to be loaded there, `inference` what
/// must stay free beside it.
std::string load_request_line(DeviceId device, Bytes missing, Bytes inference);

/// `[MIN_MEMORY_CHECK] Device cuda:0: free=1.00GB, required=1.19GB, will_evict=True`, which it is
/// when less is free than required. True and False, as Python prints them: those who search such
/// logs have only seen these.
std::string minimum_check_line(DeviceId device, Bytes free, Bytes required);

/// `[EVICTION] Device cuda:0: unloaded 2 models due to insufficient memory`, "models" also for one.
std::string eviction_line(DeviceId device, std::size_t models);

}  // namespace ballast::residency
