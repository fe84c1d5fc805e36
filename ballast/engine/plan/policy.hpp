#pragma once
// What a user asked for: how a model's weights are spread over devices.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/device_id.hpp"
#include "ballast/engine/plan/decimal.hpp"

namespace ballast::plan {

/// How the amounts of a policy are meant.
enum class Mode {
    automatic,     ///< nothing was asked for: no distribution
    bytes,         ///< a ceiling in bytes per device
    ratio,         ///< shares of the model; with a rest marker, percentages of it
    fraction,      ///< a ceiling per device, as a part of its memory
    virtual_vram,  ///< so many bytes leave the compute device for the donors
};

/// "auto", "bytes", "ratio", "fraction", "virtual".
std::string_view to_string(Mode mode);

/// What one device was given.
struct PolicyEntry {
    DeviceId device{};
    Bytes bytes{};     ///< in mode bytes
    Decimal number{};  ///< in modes ratio (percent) and fraction (0 to 1)

    bool operator==(const PolicyEntry&) const = default;
};

/// An allocation text, understood. Equal if two texts mean the same; warnings do not count.
struct Policy {
    Mode mode = Mode::automatic;
    DeviceId compute{};
    /// In typed order, without the device of the rest marker. Amounts of nothing are left out,
    /// unless their device takes the remainder.
    std::vector<PolicyEntry> entries{};
    std::optional<DeviceId> rest{};   ///< the device of the rest marker '*'
    std::optional<Bytes> advisory{};  ///< "5gb*": what the rest should not exceed
    Bytes virtual_bytes{};
    std::vector<DeviceId> donors{};  ///< in typed order
    std::vector<std::string> warnings{};

    bool operator==(const Policy& other) const;
};

/// Where blocks go that fit no quota: the rest marker's device, else the last donor, else cpu. In
/// mode automatic the compute device; nothing in mode ratio without a rest marker, which needs
/// none.
std::optional<DeviceId> remainder_of(const Policy& policy);

/// The policy as an allocation text of the full form. Reading it gives an equal policy, on every
/// machine on which the policy itself could be read.
std::string canonical(const Policy& policy);

}  // namespace ballast::plan
