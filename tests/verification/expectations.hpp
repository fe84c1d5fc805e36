#pragma once
// What must come of a cell, said a second time and without the code that is verified.

#include <array>
#include <map>
#include <set>

#include "ballast/engine/residency/registry.hpp"
#include "tests/verification/axes.hpp"

namespace ballast::verification {

/// Which models go.
std::array<bool, kModels> expected_to_go(const FreeRow& kind, const FlagsRow& flags);

/// The devices that an allocation text names, the file among them.
std::set<DeviceId> expected_homes(const PlacementRow& placement, const MachineRow& machine);

/// Blocks at home on each device, and the ring where it computes.
std::map<DeviceId, Bytes> expected_held(const plan::BlockTable& table, const plan::Plan& plan);

/// What a class does with caches; accelerators alone have any.
machine::CacheAction expected_action(machine::MemoryClass memory_class, machine::EmptyingCall call);

/// Sums without devices of nothing.
std::map<DeviceId, Bytes> sum(const std::map<DeviceId, Bytes>& a,
                              const std::map<DeviceId, Bytes>& b);
std::map<DeviceId, Bytes> difference(const std::map<DeviceId, Bytes>& a,
                                     const std::map<DeviceId, Bytes>& b);
Bytes bytes_on(const std::map<DeviceId, Bytes>& sums, DeviceId device);

}  // namespace ballast::verification
