#pragma once
// The pieces from which allocation texts are read: parts, columns, faults, device names. Internal
// to the reading of allocation texts.

#include <string>
#include <string_view>

#include "ballast/engine/plan/allocation.hpp"
#include "ballast/engine/plan/allocation_value.hpp"

namespace ballast::plan {

/// A stretch of an allocation text, without the blanks at its ends. An empty part lies where
/// something was expected.
struct TextPart {
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] bool is_empty() const { return begin == end; }
};

/// An allocation text and the devices that it may name.
class AllocationText {
public:
    AllocationText(std::string_view text, const AllocationContext& context)
        : text_(text), context_(context) {}

    [[nodiscard]] std::size_t size() const { return text_.size(); }
    [[nodiscard]] const AllocationContext& context() const { return context_; }
    [[nodiscard]] std::string_view of(TextPart part) const {
        return text_.substr(part.begin, part.end - part.begin);
    }
    /// The first `c` at or after `from`, or `end`.
    [[nodiscard]] std::size_t find(char c, std::size_t from, std::size_t end) const;
    /// `begin` to `end` without the blanks around it.
    [[nodiscard]] TextPart trimmed(std::size_t begin, std::size_t end) const;

    /// Reads the device at the start of `part` and moves the start of `part` behind it and its
    /// blanks. `shown` is the part that an error shows.
    Result<DeviceId> read_device(TextPart& part, TextPart shown) const;

    /// What is wrong with `part`, at the character `at` bytes into the text.
    [[nodiscard]] Error fault(TextPart part, std::size_t at, AllocationFault fault) const;
    [[nodiscard]] std::string warning(TextPart part, std::size_t at, std::string why) const {
        return to_string(fault(part, at, {.why = std::move(why)}));
    }

private:
    std::string_view text_;
    const AllocationContext& context_;
};

/// Reads the entries before '#', which stands at `end`, into `policy`; without any, `policy` stays
/// as it is. Returns the first fault.
std::optional<Error> read_expert(const AllocationText& text, std::size_t end, Policy& policy);

/// Reads what stands behind '#', from `begin` on, after the entries.
std::optional<Error> read_tail(const AllocationText& text, std::size_t begin, Policy& policy);

inline constexpr std::string_view kListedTwice = "device listed twice";

/// Replaces percentages by equal ones that add up to 100 where a few decimals suffice, else by the
/// smallest whole numbers of the same ratio: 8, 8, 4 become 40, 40, 20. So equal shares are equal.
void normalise_shares(std::vector<PolicyEntry>& entries);

}  // namespace ballast::plan
