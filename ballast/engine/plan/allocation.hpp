#pragma once
// Allocation texts: what users type to say where the weights of a model live.
//
//     text    = expert [ "#" [ compute [ ";" GiB ";" donor { "," donor } ] ] ]
//     expert  = entry { ";" entry }              entry = device "," amount
//     amount  = "2.5gb" | "25%" | "0.5" | "*" | "5gb*"
//
// Amounts of one text are all bytes (ceilings; k, m, g, t are 1024-based), all percentages (shares
// of the model) or all fractions (ceilings, as a part of a device's memory); "*" takes the rest.
// Without entries, "#cuda:0;4.0;cpu" frees 4 GiB on cuda:0 by storing that much on cpu. Letter case
// and blanks do not matter, nor do empty entries.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "ballast/engine/core/result.hpp"
#include "ballast/engine/machine/profile.hpp"
#include "ballast/engine/plan/policy.hpp"

namespace ballast::plan {

inline constexpr std::size_t kLongestAllocation = 4096;  ///< characters
inline constexpr std::size_t kMostEntries = 64;

/// A device that a text may name. An empty total is unknown.
struct PresentDevice {
    DeviceId id{};
    std::optional<Bytes> total{};

    bool operator==(const PresentDevice&) const = default;
};

/// What a text is read against. `cpu` and `disk` may be named whether or not they are listed;
/// `disk` stores only.
struct AllocationContext {
    std::vector<PresentDevice> devices{};  ///< errors list them in this order
    DeviceId compute{};                    ///< where a model computes if the text does not say it
};

/// The accelerators of `profile` in its order, then cpu; the first one computes.
AllocationContext allocation_context(const machine::MachineProfile& profile);

/// Memory of `device` as `devices` tell it; empty if unknown.
std::optional<Bytes> total_of(const std::vector<PresentDevice>& devices, DeviceId device);

/// Reads `text` whole or not at all. Fails with `Code::usage`, the entry as key and the column
/// (1-based, in characters) of the fault: where something else was expected, at the start of the
/// entry for its device and its mode, at the start of the value for its value.
Result<Policy> parse_allocation(std::string_view text, const AllocationContext& context);

}  // namespace ballast::plan
