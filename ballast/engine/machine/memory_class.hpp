#pragma once
// How a device's memory stands to the host's: one pool, two, or something between.
//
// The rules are numbered, and the number of the one that decided is part of every report. What
// decides is what the driver says of the device; names count only where the driver says nothing,
// and the ratio of device to host memory never decides alone.

#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/machine/options.hpp"
#include "ballast/engine/machine/profile.hpp"

namespace ballast::machine {

enum class MemoryClass {
    unified,      ///< device and host allocate from one pool (DGX Spark, Jetson, integrated GPUs)
    partitioned,  ///< an integrated GPU with a fixed share of the memory
    shared,       ///< Apple Metal
    coherent,     ///< two memories in one coherent address space (GH200, GB200)
    discrete,     ///< separate memories (PCIe cards)
    none,         ///< no accelerator, or not used
};

/// "UNIFIED" and so on.
std::string_view to_string(MemoryClass memory_class);

struct Classification {
    MemoryClass memory_class = MemoryClass::none;
    std::string rule{};    ///< "D0" ... "D10", "D3a"
    std::string reason{};  ///< one sentence for people
    std::vector<std::string> warnings{};
};

/// Decides from one device alone; the first rule that matches wins:
///
/// | rule | condition | class |
/// |---|---|---|
/// | D1 | CPU mode | NONE |
/// | D2 | Metal; nothing overrides it | SHARED |
/// | D0 | the user said so | as said |
/// | D3a | CUDA, integrated, host page tables, total below 0.6 of the host's or a NUMA node of its
/// own | COHERENT | | D3 | CUDA, integrated | UNIFIED, PARTITIONED on Windows | | D4 | HIP,
/// integrated | UNIFIED if GTT is at least half of carve-out and GTT, else PARTITIONED | | D5 |
/// other kinds, integrated | UNIFIED | | D6 | CUDA, not integrated, host page tables | COHERENT |
/// | D7 | not integrated | DISCRETE |
/// | D8 | unknown; the name has the word GB10, Thor, Orin, Xavier or Tegra, total 0.90 to 1.10 of
/// the host's | UNIFIED | | D9 | unknown; the name has the word GB200, GB300, GH200 or Grace |
/// COHERENT | | D10 | otherwise | DISCRETE |
Classification classify(const DeviceProfile& device, const HostProfile& host, System system,
                        const MemoryOptions& options);

/// ROCm devices are called cuda:N; what makes them AMD is the vendor or the architecture's name.
bool is_hip(const DeviceProfile& device);
bool is_nvidia(const DeviceProfile& device);

}  // namespace ballast::machine
