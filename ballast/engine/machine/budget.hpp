#pragma once
// How much memory a device has, has left, and may give to weights.
//
// Two figures answer the last question. The static budget is the class's formula over totals: it
// does not move while programs come and go, so number formats and reports can rest on it. What
// weights may take now follows the latest reading, and shrinks when another program takes memory.
// All formulas are computed in doubles and floored once at the end.

#include <optional>
#include <string>

#include "ballast/engine/core/error.hpp"
#include "ballast/engine/machine/memory_class.hpp"
#include "ballast/engine/machine/options.hpp"
#include "ballast/engine/machine/profile.hpp"

namespace ballast::machine {

/// What this process holds on a device by its own account. Readings of free memory are never
/// subtracted from one another to find it out: on a shared pool they can rise while we allocate.
struct Holding {
    Bytes loaded{};      ///< weights that lie there now
    Bytes releasable{};  ///< blocks that the allocator keeps without using them
};

/// A device together with what is needed to judge its memory.
struct DeviceQuestion {
    const DeviceProfile& device;
    const HostProfile& host;
    System system = System::gnu_linux;
    const MemoryOptions& options;
    MemoryClass memory_class = MemoryClass::none;
    Holding holding{};
};

/// Memory that could be had now, kept blocks of our allocator included.
struct FreeMemory {
    std::optional<Bytes> bytes{};
    std::string source{};  ///< "MemAvailable", "driver", "smaller of driver and MemAvailable", ...
    bool is_lower_bound = false;  ///< the true figure is larger: the driver counts cache as used
    std::vector<std::string> warnings{};
};

/// The device's total as its class counts it: the host's where it has no memory of its own, and
/// never more than the host's where they share a pool. Empty if unknown.
std::optional<Bytes> total_memory(const DeviceQuestion& question);

/// By class: host figures for shared pools, the driver's for cards, the smaller one between. Never
/// more than the total; swap never counts.
FreeMemory free_memory(const DeviceQuestion& question);

struct Budget {
    Bytes reserve{};                       ///< left to the system, other programs and our own needs
    std::optional<Bytes> static_budget{};  ///< empty when the total is unknown
    std::optional<Bytes> weights_now{};    ///< empty when free memory is unknown
    std::string limited_by{};              ///< what decides `weights_now`, for people
};

/// |class|static budget|
/// |---|---|
/// |UNIFIED|0.95 total - reserve; reserve = clamp(total/16, 2 GiB, 8 GiB) unless the user said one|
/// |others|0.88 total - (0.8 GiB + reserve); reserve = 400 MiB, on Windows 600 or (above 15 GiB)
/// 700 MiB, for a share of the memory there 500 MiB| |the processor|total - reserve; reserve =
/// clamp(total/16, 2 GiB, 8 GiB), at most a quarter|
///
/// and on Metal and shares of the memory at most the working set that the system grants.
/// `weights_now` is, for UNIFIED, min(static, available + releasable - reserve + loaded), else
/// free + loaded - reserve; at most the user's limit. Never below zero.
Budget budget(const DeviceQuestion& question, const FreeMemory& free);

/// Most host memory that may be pinned for copies to this device: a ring of 256 MiB where pinning
/// gains nothing, 0.95 of the host's total for cards on Linux, 0.40 on Windows, in WSL2 and beside
/// a carve-out; none for kinds other than CUDA and HIP, or when switched off.
Bytes pinned_limit(const DeviceQuestion& question);

/// How many streams copy weights beside the arithmetic.
int offload_streams(const DeviceQuestion& question);

/// The refusal of `needed` bytes of weights. On a shared pool it says that moving weights to the
/// processor would free nothing.
Error does_not_fit(const DeviceQuestion& question, const Budget& budget, Bytes needed);

}  // namespace ballast::machine
