#include "ballast/engine/plan/wide.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace ballast::plan {

Wide Wide::power_of_ten(unsigned exponent) {
    Wide power{1};
    for (; exponent >= 19; exponent -= 19) power *= Wide{10'000'000'000'000'000'000U};
    std::uint64_t rest = 1;
    for (; exponent > 0; --exponent) rest *= 10;
    return power *= Wide{rest};
}

Wide& Wide::operator+=(const Wide& other) {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < kLimbs; ++i) {
        const auto sum = static_cast<WideBytes>(limbs_[i]) + other.limbs_[i] + carry;
        limbs_[i] = static_cast<std::uint64_t>(sum);
        carry = static_cast<std::uint64_t>(sum >> 64U);
    }
    return *this;
}

Wide& Wide::operator-=(const Wide& other) {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < kLimbs; ++i) {
        const auto taken = static_cast<WideBytes>(other.limbs_[i]) + borrow;
        borrow = taken > limbs_[i] ? 1 : 0;
        limbs_[i] -= static_cast<std::uint64_t>(taken);
    }
    return *this;
}

Wide& Wide::operator*=(const Wide& other) {
    Wide product;
    for (std::size_t i = 0; i < kLimbs; ++i) {
        if (limbs_[i] == 0) continue;
        std::uint64_t carry = 0;
        for (std::size_t j = 0; i + j < kLimbs; ++j) {
            const auto sum =
                static_cast<WideBytes>(limbs_[i]) * other.limbs_[j] + product.limbs_[i + j] + carry;
            product.limbs_[i + j] = static_cast<std::uint64_t>(sum);
            carry = static_cast<std::uint64_t>(sum >> 64U);
        }
    }
    return *this = product;
}

std::strong_ordering Wide::operator<=>(const Wide& other) const {
    for (std::size_t i = kLimbs; i-- > 0;)
        if (limbs_[i] != other.limbs_[i]) return limbs_[i] <=> other.limbs_[i];
    return std::strong_ordering::equal;
}

std::size_t Wide::bits() const {
    for (std::size_t i = kLimbs; i-- > 0;)
        if (limbs_[i] != 0) return 64 * i + static_cast<unsigned>(std::bit_width(limbs_[i]));
    return 0;
}

void Wide::double_plus(bool one) {
    std::uint64_t carry = one ? 1 : 0;
    for (auto& limb : limbs_) {
        const auto next = limb >> 63U;
        limb = (limb << 1U) | carry;
        carry = next;
    }
}

void Wide::halve() {
    std::uint64_t carry = 0;
    for (std::size_t i = kLimbs; i-- > 0;) {
        const auto next = limbs_[i] << 63U;
        limbs_[i] = (limbs_[i] >> 1U) | carry;
        carry = next;
    }
}

Wide::Division Wide::divide(const Wide& a, const Wide& divisor) {
    Division made;
    for (auto at = a.bits(); at-- > 0;) {
        made.remainder.double_plus(a.bit(at));
        const bool goes = made.remainder >= divisor;
        if (goes) made.remainder -= divisor;
        made.quotient.double_plus(goes);
    }
    return made;
}

Wide operator/(const Wide& a, const Wide& divisor) { return Wide::divide(a, divisor).quotient; }

Wide operator%(const Wide& a, const Wide& divisor) { return Wide::divide(a, divisor).remainder; }

WideBytes Wide::to_wide_bytes() const {
    if (bits() > 128) return ~WideBytes{0};
    return (static_cast<WideBytes>(limbs_[1]) << 64U) | limbs_[0];
}

Bytes Wide::to_bytes() const { return plan::to_bytes(to_wide_bytes()); }

std::string Wide::text() const {
    std::string digits;
    for (auto rest = *this; !rest.is_zero();) {
        const auto parts = divide(rest, Wide{10});
        digits += static_cast<char>('0' + static_cast<char>(parts.remainder.limbs_[0]));
        rest = parts.quotient;
    }
    if (digits.empty()) digits.push_back('0');
    std::reverse(digits.begin(), digits.end());
    return digits;
}

Wide Wide::greatest_common_divisor(Wide a, Wide b) {
    if (a.is_zero()) return b;
    if (b.is_zero()) return a;
    unsigned twos = 0;
    for (; !a.bit(0) && !b.bit(0); ++twos) {
        a.halve();
        b.halve();
    }
    while (!a.is_zero()) {
        while (!a.bit(0)) a.halve();
        while (!b.bit(0)) b.halve();
        if (a < b) std::swap(a, b);
        a -= b;
    }
    for (; twos > 0; --twos) b.double_plus(false);
    return b;
}

Bytes to_bytes(WideBytes bytes) {
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    return Bytes{bytes > kMost ? kMost : static_cast<std::uint64_t>(bytes)};
}

}  // namespace ballast::plan
