#pragma once
// Amounts of memory. Bytes are the only currency inside Ballast; ratios and percentages are turned
// into bytes where they enter.

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "ballast/engine/core/result.hpp"

namespace ballast {

/// A number of bytes. Sums saturate at the largest value instead of wrapping, so "needed" figures
/// made of hostile numbers stay too large rather than becoming small.
class Bytes {
public:
    constexpr Bytes() = default;
    constexpr explicit Bytes(std::uint64_t count) : count_(count) {}

    [[nodiscard]] constexpr std::uint64_t count() const { return count_; }
    [[nodiscard]] constexpr bool is_zero() const { return count_ == 0; }

    constexpr auto operator<=>(const Bytes&) const = default;

    constexpr Bytes& operator+=(Bytes other) {
        const auto room = std::numeric_limits<std::uint64_t>::max() - count_;
        count_ += other.count_ < room ? other.count_ : room;
        return *this;
    }
    friend constexpr Bytes operator+(Bytes a, Bytes b) { return a += b; }

    /// This minus `other`, zero when `other` is larger.
    [[nodiscard]] constexpr Bytes minus_or_zero(Bytes other) const {
        return Bytes{count_ > other.count_ ? count_ - other.count_ : 0};
    }

    /// This times `factor`, saturating.
    [[nodiscard]] constexpr Bytes times(std::uint64_t factor) const {
        if (factor != 0 && count_ > std::numeric_limits<std::uint64_t>::max() / factor)
            return Bytes{std::numeric_limits<std::uint64_t>::max()};
        return Bytes{count_ * factor};
    }

private:
    std::uint64_t count_ = 0;
};

/// For people: "512 B", "1.50 MiB", "2.13 GiB" (1024-based, two decimals).
std::string to_string(Bytes bytes);

/// Reads "1073741824", "512mb", "1.5 GiB", "2g": k, m, g, t, p are 1024-based with or without b or
/// ib, in either case; blanks may stand around number and unit. Rounds down to whole bytes. Fails
/// with `Code::usage` and the column where the amount begins.
Result<Bytes> parse_bytes(std::string_view text);

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes{n}; }
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes{n << 10U}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes{n << 20U}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes{n << 30U}; }
}  // namespace literals

}  // namespace ballast
