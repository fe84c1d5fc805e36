#pragma once
// Whole numbers of up to 384 bits: room for the exact products of byte counts and typed decimals.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ballast/engine/core/bytes.hpp"

namespace ballast::plan {

/// Sums of byte counts: 2^60 bytes in each of 10^5 blocks are beyond 64 bits.
__extension__ typedef unsigned __int128 WideBytes;

/// Unsigned, of fixed width. Callers keep within it: 2^77 bytes of model, percentages of 30 digits
/// and 64 devices need 370 bits in the longest product.
class Wide {
public:
    constexpr Wide() = default;
    constexpr explicit Wide(WideBytes value)
        : limbs_{static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(value >> 64U)} {}

    /// 10 to the power `exponent`, at most 115.
    static Wide power_of_ten(unsigned exponent);

    Wide& operator+=(const Wide& other);
    /// `other` must not be larger.
    Wide& operator-=(const Wide& other);
    Wide& operator*=(const Wide& other);
    friend Wide operator+(Wide a, const Wide& b) { return a += b; }
    friend Wide operator-(Wide a, const Wide& b) { return a -= b; }
    friend Wide operator*(Wide a, const Wide& b) { return a *= b; }
    /// Rounds down; `divisor` must not be zero.
    friend Wide operator/(const Wide& a, const Wide& divisor);
    friend Wide operator%(const Wide& a, const Wide& divisor);

    bool operator==(const Wide&) const = default;
    std::strong_ordering operator<=>(const Wide& other) const;

    [[nodiscard]] bool is_zero() const { return *this == Wide{}; }
    /// The value, or the largest one of that type.
    [[nodiscard]] WideBytes to_wide_bytes() const;
    [[nodiscard]] Bytes to_bytes() const;
    /// Decimal digits.
    [[nodiscard]] std::string text() const;

    /// The largest number that divides both; the other one if one is zero.
    static Wide greatest_common_divisor(Wide a, Wide b);

private:
    struct Division;
    static constexpr std::size_t kLimbs = 6;

    static Division divide(const Wide& a, const Wide& divisor);
    [[nodiscard]] std::size_t bits() const;
    [[nodiscard]] bool bit(std::size_t at) const {
        return (limbs_[at / 64] >> (at % 64) & 1U) != 0;
    }
    void double_plus(bool one);
    void halve();

    std::array<std::uint64_t, kLimbs> limbs_{};  ///< the least significant first
};

struct Wide::Division {
    Wide quotient;
    Wide remainder;
};

/// The sum, or the largest number of bytes.
Bytes to_bytes(WideBytes bytes);

}  // namespace ballast::plan
