#pragma once
// One simulated accelerator.

#include <memory>

#include "ballast/engine/device/device.hpp"
#include "ballast/engine/device/ledger.hpp"
#include "ballast/engine/device/sim/bus.hpp"
#include "ballast/engine/machine/profile.hpp"

namespace ballast::device::sim {

/// Its capacity is what the profile calls free, else its total, else unlimited. `ledger` may be
/// null.
std::shared_ptr<Device> make_sim_device(const machine::DeviceProfile& profile,
                                        std::shared_ptr<Bus> bus, Ledger* ledger);

}  // namespace ballast::device::sim
