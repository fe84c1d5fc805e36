#pragma once
// The amount in an entry of an allocation text: "2.5gb", "25%", "0.5", "*", "5gb*".

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "ballast/engine/plan/policy.hpp"

namespace ballast::plan {

/// Why a part of an allocation text cannot be read, and what to write instead.
struct AllocationFault {
    std::string why{};
    std::string hint{};
};

/// One amount as typed. Whether it suits its device and its neighbours is the reader's question.
struct AllocationValue {
    std::optional<Mode> mode{};  ///< bytes, ratio or fraction; nothing for "*" and a bare zero
    Decimal number{};
    unsigned unit_shift = 0;  ///< a unit is 2^`unit_shift` bytes
    bool is_rest = false;     ///< has the rest marker

    /// The amount in whole bytes, rounded down; nothing beyond 2^63. Of mode bytes only.
    [[nodiscard]] std::optional<Bytes> bytes() const;
};

/// Reads the whole of `text`, which has no blanks at its ends and is not empty.
tl::expected<AllocationValue, AllocationFault> read_value(std::string_view text);

/// Reads the whole of `text` as a plain number: not negative, no exponent, no unit.
tl::expected<Decimal, AllocationFault> read_number(std::string_view text);

}  // namespace ballast::plan
