#pragma once
// What devices and the host have in use now.

#include <optional>
#include <utility>
#include <vector>

#include "ballast/engine/device/device_set.hpp"
#include "ballast/engine/device/ledger.hpp"
#include "ballast/engine/machine/profile.hpp"
#include "ballast/engine/residency/memory_lines.hpp"

namespace ballast::runtime::nodes {

/// The host's memory at this moment: as the system tells it, or of a simulated machine what its
/// profile says, less what our account has in it. Amounts that nobody tells are empty.
class HostMemory {
public:
    /// `simulated`: null for the real host. `pool`: devices whose memory is the host's, the
    /// processor among them. Profile and ledger must outlive it.
    HostMemory(const machine::HostProfile* simulated, std::vector<DeviceId> pool,
               const device::Ledger& ledger)
        : simulated_(simulated), pool_(std::move(pool)), ledger_(&ledger) {}

    [[nodiscard]] std::optional<Bytes> total() const { return now().total; }
    [[nodiscard]] std::optional<Bytes> available() const { return now().available; }
    [[nodiscard]] Bytes used() const;

private:
    [[nodiscard]] machine::HostProfile now() const;

    const machine::HostProfile* simulated_;
    std::vector<DeviceId> pool_;
    const device::Ledger* ledger_;
};

/// What of this process lies in memory; empty where the system does not say.
std::optional<Bytes> resident_memory();

/// The host first. Devices that sleep, or do not say what they have, have a total of zero.
std::vector<residency::DeviceReading> memory_readings(const device::DeviceSet& devices,
                                                      const HostMemory& host);

}  // namespace ballast::runtime::nodes
