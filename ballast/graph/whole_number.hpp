#pragma once
// Integers of workflows: everything that fits 64 bits, signed or unsigned. Seeds need the upper
// half of the unsigned range, layer numbers need negative values.

#include <compare>
#include <concepts>
#include <cstdint>

namespace ballast::graph {

/// A value in [-2^63, 2^64 - 1], comparable and exact.
class WholeNumber {
public:
    constexpr WholeNumber() = default;
    template <std::integral T>
    constexpr WholeNumber(T value)  // NOLINT: implicit, bounds are written as plain numbers
        : bits_(static_cast<std::uint64_t>(value)) {
        if constexpr (std::signed_integral<T>) is_negative_ = value < 0;
    }

    [[nodiscard]] constexpr bool is_negative() const { return is_negative_; }
    /// The value, if it is negative or below 2^63.
    [[nodiscard]] constexpr std::int64_t as_signed() const {
        return static_cast<std::int64_t>(bits_);
    }
    /// The value, if it is not negative.
    [[nodiscard]] constexpr std::uint64_t as_unsigned() const { return bits_; }

    constexpr bool operator==(const WholeNumber&) const = default;
    constexpr std::strong_ordering operator<=>(const WholeNumber& other) const {
        if (is_negative_ != other.is_negative_)
            return is_negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
        return bits_ <=> other.bits_;  // two's complement keeps the order of negative values
    }

private:
    std::uint64_t bits_ = 0;
    bool is_negative_ = false;
};

}  // namespace ballast::graph
