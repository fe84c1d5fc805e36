#include "ballast/graph/conversion.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "ballast/graph/python_text.hpp"

namespace ballast::graph {

namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr double kTwoTo64 = 18446744073709551616.0;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\n\r\v\f";
    const auto first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Python allows single underscores between digits; nothing if they stand elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '_') {
            plain += text[i];
            continue;
        }
        const bool is_between =
            i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
        if (!is_between) return std::nullopt;
    }
    return plain;
}

/// A magnitude with its sign; a floating-point number if it does not fit.
Json signed_value(bool is_negative, std::uint64_t magnitude) {
    constexpr std::uint64_t kLowest = std::uint64_t{1} << 63U;
    if (!is_negative) return magnitude;
    if (magnitude > kLowest) return -static_cast<double>(magnitude);
    return static_cast<std::int64_t>(~magnitude + 1);
}

Converted integer_of_text(std::string_view text) {
    auto digits = without_underscores(trimmed(text));
    const tl::unexpected<std::string> failure("not a whole number");
    if (!digits || digits->empty()) return failure;
    const bool is_negative = digits->front() == '-';
    if (is_negative || digits->front() == '+') digits->erase(0, 1);
    if (digits->empty() || !std::all_of(digits->begin(), digits->end(), is_digit)) return failure;
    std::uint64_t magnitude = 0;
    const char* end = digits->data() + digits->size();
    if (std::from_chars(digits->data(), end, magnitude).ec == std::errc::result_out_of_range) {
        const double huge = digits->size() > 300 ? std::numeric_limits<double>::max()
                                                 : std::max(kTwoTo64, std::stod(*digits));
        return is_negative ? -huge : huge;
    }
    return signed_value(is_negative, magnitude);
}

Converted integer_of_number(double value) {
    if (std::isnan(value)) return tl::unexpected<std::string>("not a whole number");
    const double whole = std::trunc(value);
    if (whole >= kTwoTo64 || whole < -kTwoTo63)
        return std::clamp(whole, std::numeric_limits<double>::lowest(),
                          std::numeric_limits<double>::max());
    if (whole < 0) return static_cast<std::int64_t>(whole);
    return static_cast<std::uint64_t>(whole);
}

Converted finite(double value) {
    if (std::isnan(value)) return tl::unexpected<std::string>("not a number");
    return std::clamp(value, std::numeric_limits<double>::lowest(),
                      std::numeric_limits<double>::max());
}

Converted number_of_text(std::string_view text) {
    const auto plain = without_underscores(trimmed(text));
    const tl::unexpected<std::string> failure("not a number");
    if (!plain) return failure;
    std::string_view rest = *plain;
    const bool is_negative = rest.starts_with('-');
    if (is_negative || rest.starts_with('+')) rest.remove_prefix(1);
    if (rest.empty() || rest.front() == '-') return failure;
    double value = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (stop != rest.data() + rest.size()) return failure;
    if (error == std::errc::result_out_of_range) {
        // too large, or too small to be told from zero: the sign of the exponent decides
        const auto exponent = rest.find_first_of("eE");
        const bool is_tiny =
            exponent != std::string_view::npos && rest.substr(exponent + 1).starts_with('-');
        value = is_tiny ? 0.0 : std::numeric_limits<double>::infinity();
    } else if (error != std::errc{}) {
        return failure;
    }
    return finite(is_negative ? -value : value);
}

}  // namespace

Converted to_integer(const Json& value) {
    if (value.is_boolean()) return value.get<bool>() ? 1U : 0U;
    if (value.is_number_integer()) return value;
    if (value.is_number_float()) return integer_of_number(value.get<double>());
    if (value.is_string()) return integer_of_text(value.get_ref<const std::string&>());
    return tl::unexpected<std::string>("not a whole number");
}

Converted to_number(const Json& value) {
    if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
    if (value.is_number()) return finite(value.get<double>());
    if (value.is_string()) return number_of_text(value.get_ref<const std::string&>());
    return tl::unexpected<std::string>("not a number");
}

Converted to_text(const Json& value) { return python_str(value); }

Converted to_flag(const Json& value) {
    if (value.is_boolean()) return value;
    if (value.is_number_float()) return value.get<double>() != 0.0;
    if (value.is_number_integer()) return value.get<std::uint64_t>() != 0;
    if (value.is_string()) return !value.get_ref<const std::string&>().empty();
    return !value.empty();  // null counts as empty
}

Converted converted(const Json& value, const InputDeclaration& input) {
    if (std::holds_alternative<IntegerField>(input.field)) return to_integer(value);
    if (std::holds_alternative<NumberField>(input.field)) return to_number(value);
    if (std::holds_alternative<TextField>(input.field)) return to_text(value);
    if (std::holds_alternative<ToggleField>(input.field)) return to_flag(value);
    return value;
}

std::strong_ordering compare(const Json& integer, WholeNumber bound) {
    if (integer.is_number_float())
        return integer.get<double>() < 0 ? std::strong_ordering::less
                                         : std::strong_ordering::greater;
    return (integer.is_number_unsigned() ? WholeNumber(integer.get<std::uint64_t>())
                                         : WholeNumber(integer.get<std::int64_t>())) <=> bound;
}

}  // namespace ballast::graph
