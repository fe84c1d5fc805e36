#pragma once
// What must hold after models were let go: those that stay are untouched, those that went are gone
// everywhere, and the account agrees with both. Checked at the end of every free flow of a debug
// build, and by tests in all.

#include <map>
#include <string>
#include <vector>

#include "ballast/engine/device/ledger.hpp"
#include "ballast/engine/residency/caches.hpp"
#include "ballast/engine/residency/registry.hpp"

namespace ballast::residency {

/// The registry at one moment.
struct Photograph {
    std::vector<ModelStatus> models{};
    /// Where each model's weights are kept: the same object means that nothing was read or moved.
    std::map<ModelHandle, const weights::WeightStore*> stores{};
    device::LedgerSnapshot ledger{};
};

Photograph photograph(const Registry& registry, const device::Ledger& ledger);

/// What is broken, one line each, beginning with the invariant's name; empty: nothing.
///
/// I1 those kept are still listed, in their order; I2 with every block where it was; I3 as they
/// were patched; I4 usable without reading; I6 those freed are not listed; I7 their bytes came back
/// on all devices, exactly; I8 their handles are stale; I11 the sum of what models hold is what the
/// account has for weights and rings.
std::vector<std::string> broken_by_freeing(const Photograph& before, const Registry& registry,
                                           const device::Ledger& ledger, const FreeReport& report);

/// I12: every device that is awake was asked to empty its cache, and none keeps anything that its
/// policy wants released.
std::vector<std::string> broken_by_emptying(const device::DeviceSet& devices,
                                            const std::vector<CacheReport>& reports);

}  // namespace ballast::residency
