#pragma once
// Everything that is decided about a machine's memory, in one value: what `ballast devices` prints
// and what plans start from.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/machine/budget.hpp"
#include "ballast/engine/machine/cache_policy.hpp"
#include "ballast/engine/machine/memory_class.hpp"
#include "ballast/engine/machine/placement.hpp"

namespace ballast::machine {

struct DeviceAssessment {
    DeviceId id{};
    std::string name{};
    Classification classification{};
    VramState state = VramState::disabled;
    std::optional<Bytes> total{};
    FreeMemory free{};
    Budget budget{};
    Bytes pinned_limit{};
    int streams = 0;
    Placement placement{};
    CacheAction soft_empty = CacheAction::nothing;
    bool is_fp16_usable = false;
    bool is_bf16_usable = false;
    std::string cannot_store{};  ///< why no blocks can live there; empty: they can
};

struct Assessment {
    std::optional<Bytes> host_total{};      ///< MemTotal
    std::optional<Bytes> host_available{};  ///< within a container's limit
    std::optional<Bytes> host_limit{};
    std::vector<DeviceAssessment> devices{};  ///< the processor first
    std::vector<std::string> warnings{};
};

/// Judges every visible device. `holdings` is what this process has on each by its own account.
/// Devices keep the order of the profile, except that --default-device moves one to the front and
/// --cuda-device leaves only one of its kind.
Assessment assess(const MachineProfile& profile, const MemoryOptions& options,
                  const std::map<DeviceId, Holding>& holdings = {});

/// The device that computes unless somebody names another: the first accelerator that can store
/// blocks, else the processor.
DeviceId default_compute_device(const Assessment& assessment);

}  // namespace ballast::machine
