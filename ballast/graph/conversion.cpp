#include "ballast/graph/conversion.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/engine/core/python_number.hpp"
#include "ballast/graph/python_text.hpp"

namespace ballast::graph {

namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr double kTwoTo64 = 18446744073709551616.0;

/// A magnitude with its sign; a floating-point number if it does not fit.
Json signed_value(bool is_negative, std::uint64_t magnitude) {
    constexpr std::uint64_t kLowest = std::uint64_t{1} << 63U;
    if (!is_negative) return magnitude;
    if (magnitude > kLowest) return -static_cast<double>(magnitude);
    return static_cast<std::int64_t>(~magnitude + 1);
}

Converted integer_of_text(std::string_view text) {
    auto digits = without_digit_separators(trimmed(text));
    const tl::unexpected<std::string> failure("not a whole number");
    if (!digits || digits->empty()) return failure;
    const bool is_negative = digits->front() == '-';
    if (is_negative || digits->front() == '+') digits->erase(0, 1);
    if (digits->empty() || !std::all_of(digits->begin(), digits->end(), is_digit)) return failure;
    std::uint64_t magnitude = 0;
    const char* end = digits->data() + digits->size();
    if (std::from_chars(digits->data(), end, magnitude).ec == std::errc::result_out_of_range) {
        const double huge = std::clamp(parse_python_float(*digits).value_or(kTwoTo64), kTwoTo64,
                                       std::numeric_limits<double>::max());
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
    const auto value = parse_python_float(trimmed(text));
    if (!value) return tl::unexpected<std::string>("not a number");
    return finite(*value);
}

/// Of a choice: as it is, or the default where a device is called none.
Json chosen(const Json& value, const ChoiceField& field) {
    const bool is_none = value.is_null() || value == "None";
    if (!is_none || !std::holds_alternative<PresentDevices>(field.from)) return value;
    return field.default_value;
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
    if (const auto* toggle = std::get_if<ToggleField>(&input.field)) {
        if (toggle->truth == Truth::literal && !value.is_boolean())
            return tl::unexpected<std::string>("neither true nor false");
        return to_flag(value);
    }
    if (const auto* choice = std::get_if<ChoiceField>(&input.field)) return chosen(value, *choice);
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
