#pragma once
// Decimal numbers as people type them, kept exactly: 0.1 stays one tenth until the last rounding.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ballast/engine/plan/wide.hpp"

namespace ballast::plan {

/// A number that is not negative, without exponent. A value: 2.50, 02.5 and 2.5 are equal.
class Decimal {
public:
    /// The most characters that a typed number may have.
    static constexpr std::size_t kLongest = 30;

    Decimal() = default;

    /// Reads "25", "2.5", "2." or ".5" of at most `kLongest` characters; nothing for anything else.
    static std::optional<Decimal> parse(std::string_view text);
    /// `digits` divided by 10^`scale`.
    static Decimal scaled(const Wide& digits, unsigned scale);

    /// The shortest way to write it: "0.1", "25".
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] bool is_zero() const { return text_ == "0"; }

    /// The number is `digits()` / 10^`scale()`.
    [[nodiscard]] Wide digits() const;
    [[nodiscard]] unsigned scale() const;
    /// The number times 10^`wanted`, which must be at least `scale()`.
    [[nodiscard]] Wide at_scale(unsigned wanted) const;

    [[nodiscard]] bool exceeds(std::uint64_t limit) const;
    /// The number times `factor` / `divisor`, rounded down once.
    [[nodiscard]] Wide floor_times(const Wide& factor, const Wide& divisor = Wide{1}) const;

    bool operator==(const Decimal&) const = default;

private:
    explicit Decimal(std::string whole, std::string_view fraction);

    std::string text_ = "0";
};

}  // namespace ballast::plan
