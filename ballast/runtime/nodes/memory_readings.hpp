#pragma once
// What devices and the host have in use now.

#include <optional>
#include <vector>

#include "ballast/engine/device/device_set.hpp"
#include "ballast/engine/device/ledger.hpp"
#include "ballast/engine/machine/profile.hpp"
#include "ballast/engine/residency/memory_lines.hpp"

namespace ballast::runtime::nodes {

/// The host's memory at this moment: as the system tells it, or of a simulated machine what its
/// profile says, less what our account has on the host. Amounts that nobody tells are empty.
class HostMemory {
public:
    /// `simulated`: null for the real host. Both must outlive it.
    HostMemory(const machine::HostProfile* simulated, const device::Ledger& ledger)
        : simulated_(simulated), ledger_(&ledger) {}

    [[nodiscard]] std::optional<Bytes> total() const { return now().total; }
    [[nodiscard]] std::optional<Bytes> available() const { return now().available; }
    [[nodiscard]] Bytes used() const;

private:
    [[nodiscard]] machine::HostProfile now() const;

    const machine::HostProfile* simulated_;
    const device::Ledger* ledger_;
};

/// The host first. Devices that sleep, or do not say what they have, have a total of zero.
std::vector<residency::DeviceReading> memory_readings(const device::DeviceSet& devices,
                                                      const HostMemory& host);

}  // namespace ballast::runtime::nodes
