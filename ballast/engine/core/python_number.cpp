#include "ballast/engine/core/python_number.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

#include "ballast/engine/core/ascii.hpp"

namespace ballast {
namespace {

std::optional<double> parse_word(std::string_view text) {
    const auto word = lower(text);
    if (word == "inf" || word == "infinity") return std::numeric_limits<double>::infinity();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
}

/// The parts of digits[.digits][e[sign]digits].
struct Decimal {
    std::string_view whole, fraction, exponent;
};

std::optional<Decimal> split_decimal(std::string_view text) {
    const auto take_digits = [&text] {
        const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
        const auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
        text.remove_prefix(digits.size());
        return digits;
    };
    Decimal parts;
    parts.whole = take_digits();
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        parts.fraction = take_digits();
    }
    if (parts.whole.empty() && parts.fraction.empty()) return std::nullopt;
    if (text.starts_with('e') || text.starts_with('E')) {
        text.remove_prefix(1);
        parts.exponent = text;
        if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
        if (take_digits().empty()) return std::nullopt;
    }
    if (!text.empty()) return std::nullopt;
    return parts;
}

/// True when a number that no double can hold is too large rather than too small. The sign of the
/// exponent alone does not tell: 0.<400 zeros>1 has none and is tiny.
bool is_large(const Decimal& parts) {
    constexpr std::int64_t kFarAway = 1'000'000'000'000;
    const auto text = parts.exponent.starts_with('+') ? parts.exponent.substr(1) : parts.exponent;
    std::int64_t exponent = 0;
    if (!text.empty() &&
        std::from_chars(text.data(), text.data() + text.size(), exponent).ec != std::errc{})
        exponent = text.starts_with('-') ? -kFarAway : kFarAway;
    // texts are far shorter than kFarAway; the sums below must not overflow
    exponent = std::clamp(exponent, -kFarAway, kFarAway);
    const auto leading = parts.whole.find_first_not_of('0');
    if (leading != std::string_view::npos)
        return exponent + static_cast<std::int64_t>(parts.whole.size() - leading) > 0;
    const auto zeros = std::min(parts.fraction.find_first_not_of('0'), parts.fraction.size());
    return exponent - static_cast<std::int64_t>(zeros) > 0;
}

}  // namespace

std::optional<std::string> without_digit_separators(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '_') {
            plain += text[i];
        } else if (i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) ||
                   !is_digit(text[i + 1])) {
            return std::nullopt;
        }
    }
    return plain;
}

std::optional<double> parse_python_float(std::string_view text) {
    const auto plain = without_digit_separators(text);
    if (!plain) return std::nullopt;
    std::string_view rest = *plain;
    const bool is_negative = rest.starts_with('-');
    if (is_negative || rest.starts_with('+')) rest.remove_prefix(1);
    const auto with_sign = [is_negative](double value) { return is_negative ? -value : value; };
    if (const auto word = parse_word(rest)) return with_sign(*word);
    const auto parts = split_decimal(rest);
    if (!parts) return std::nullopt;
    double value = 0;
    const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (result.ec == std::errc::result_out_of_range)
        value = is_large(*parts) ? std::numeric_limits<double>::infinity() : 0.0;
    return with_sign(value);
}

}  // namespace ballast
