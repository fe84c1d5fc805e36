#pragma once
// Emptying the caches of allocators, on one device or on all of them.
//
// Each device is a matter of its own: one that sleeps is not touched (emptying the cache of a card
// that nobody uses would wake it, which costs memory and on a full card fails), and one that fails
// stops none of the others.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ballast/engine/core/log.hpp"
#include "ballast/engine/device/device_set.hpp"
#include "ballast/engine/machine/cache_policy.hpp"

namespace ballast::residency {

/// What emptying did on one device.
struct CacheReport {
    DeviceId device{};
    machine::CacheAction action = machine::CacheAction::nothing;  ///< what was to be done
    Bytes released{};              ///< that the allocator kept before any cache was emptied
    Bytes kept{};                  ///< still cached
    bool is_asleep = false;        ///< and was left alone
    std::optional<Error> error{};  ///< what the device said; also of a name that no device has
    bool reached_system = true;    ///< false: the system has not got (most of) what was released
};

/// "cuda:1: released 3.00 GiB", or what else there is to tell.
std::string to_string(const CacheReport& report);

/// What emptying depends on, for one device.
struct DevicePolicy {
    machine::MemoryClass memory_class = machine::MemoryClass::none;
    Bytes reserve{};
};
using PolicyOf = std::function<DevicePolicy(DeviceId)>;

/// What the system has left now, if it can be said. May be empty: nobody can say.
using AvailableNow = std::function<std::optional<Bytes>()>;

/// Does on each device what its class and `call` ask for (`machine::cache_action`): waits until
/// nothing is in flight there, then releases. In the order of enumeration; `only` restricts it to
/// some devices, none: all. One report for each, then one for each name in `only` that no device
/// has. Failures, and releases on a shared pool that did not reach the system, are logged as
/// warnings; nothing is waited for but the devices. Callers have dropped what shall go.
std::vector<CacheReport> empty_caches(const device::DeviceSet& devices,
                                      std::span<const DeviceId> only, machine::EmptyingCall call,
                                      const PolicyOf& policy, const AvailableNow& available,
                                      const Log& log);

}  // namespace ballast::residency
