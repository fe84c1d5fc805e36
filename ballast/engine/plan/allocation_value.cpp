#include "ballast/engine/plan/allocation_value.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ballast::plan {
namespace {

constexpr std::string_view kForms = "write an amount (2.5gb), a percentage (25%) or the rest (*)";

tl::unexpected<AllocationFault> refuse(std::string why, std::string hint = std::string(kForms)) {
    return tl::unexpected<AllocationFault>(
        AllocationFault{.why = std::move(why), .hint = std::move(hint)});
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view without_blanks(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// 0 for "b", 10 for "k", "kb" and "kib", and so on, in any case.
std::optional<unsigned> shift_of(std::string_view unit) {
    std::string name;
    for (const char c : unit) name += lower(c);
    if (name == "b") return 0;
    if (name.empty()) return std::nullopt;
    const auto power = std::string_view{"kmgt"}.find(name.front());
    const auto tail = std::string_view(name).substr(1);
    if (power == std::string_view::npos || !(tail.empty() || tail == "b" || tail == "ib"))
        return std::nullopt;
    return 10 * static_cast<unsigned>(power + 1);
}

/// The number at the start of a text, and what follows it.
struct Start {
    Decimal number{};
    std::string_view typed{};
    std::string_view rest{};
};

/// What makes the text behind a number part of no form at all.
std::optional<AllocationFault> fault_after_number(const Start& start) {
    const auto rest = start.rest;
    if (rest.empty()) return std::nullopt;
    const bool has_digit = rest.size() > 1 && is_digit(rest[1]);
    const bool has_sign = rest.size() > 1 && (rest[1] == '+' || rest[1] == '-');
    if (rest.front() == ',' && has_digit)
        return AllocationFault{
            .why = fmt::format("',' inside a number; write {}.{}", start.typed, rest.substr(1)),
            .hint = "the decimal separator is a point in every locale"};
    if (rest.front() == '.')
        return AllocationFault{.why = "a number has one decimal point at most",
                               .hint = std::string(kForms)};
    if (lower(rest.front()) == 'e' && (has_digit || has_sign))
        return AllocationFault{
            .why = fmt::format("\"{}{}\" has an exponent", start.typed, rest),
            .hint = "write the number out, or use a larger unit: kb, mb, gb, tb"};
    return std::nullopt;
}

tl::expected<Start, AllocationFault> read_start(std::string_view text) {
    const bool has_sign = text.front() == '-' || text.front() == '+';
    const auto unsigned_text = text.substr(has_sign ? 1 : 0);
    std::size_t length = 0;
    bool has_point = false;
    bool has_digits = false;
    for (; length < unsigned_text.size(); ++length) {
        const char c = unsigned_text[length];
        if (c == '.' && !has_point) {
            has_point = true;
        } else if (is_digit(c)) {
            has_digits = true;
        } else {
            break;
        }
    }
    if (!has_digits) return refuse(fmt::format("\"{}\" is not a number", text));
    if (text.front() == '-') return refuse(fmt::format("\"{}\" is negative", text));
    if (has_sign) return refuse(fmt::format("\"{}\" has a sign", text), "leave out the sign");
    const auto typed = text.substr(0, length);
    const auto number = Decimal::parse(typed);
    if (!number)
        return refuse(fmt::format("a number of more than {} characters", Decimal::kLongest));
    Start start{.number = *number, .typed = typed, .rest = text.substr(length)};
    if (auto fault = fault_after_number(start)) return tl::unexpected<AllocationFault>(*fault);
    return start;
}

tl::expected<AllocationValue, AllocationFault> read_amount(const Start& start,
                                                           std::string_view tail) {
    std::size_t length = 0;
    while (length < tail.size() && tail[length] != '*' && tail[length] != ' ' &&
           tail[length] != '\t')
        ++length;
    const auto unit = tail.substr(0, length);
    if (unit.empty())
        return refuse("a rest marker '*' behind a number needs a unit between them",
                      "write 5gb* to prefer that amount, or * alone");
    const auto shift = shift_of(unit);
    if (!shift)
        return refuse(fmt::format("unknown unit \"{}\" in \"{}{}\"", unit, start.typed, start.rest),
                      "the units are b, kb, mb, gb, tb and %");
    auto after = without_blanks(tail.substr(length));
    const bool is_rest = !after.empty() && after.front() == '*';
    if (is_rest) after.remove_prefix(1);
    if (!after.empty()) return refuse(fmt::format("unexpected \"{}\" after the amount", after));
    return AllocationValue{
        .mode = Mode::bytes, .number = start.number, .unit_shift = *shift, .is_rest = is_rest};
}

}  // namespace

std::optional<Bytes> AllocationValue::bytes() const {
    const auto exact = number.floor_times(Wide{std::uint64_t{1} << unit_shift});
    if (exact > Wide{std::uint64_t{1} << 63U}) return std::nullopt;
    return exact.to_bytes();
}

tl::expected<AllocationValue, AllocationFault> read_value(std::string_view text) {
    if (text == "*") return AllocationValue{.is_rest = true};
    const auto start = read_start(text);
    if (!start) return tl::unexpected<AllocationFault>(start.error());
    const auto tail = without_blanks(start->rest);
    if (tail.empty()) {
        AllocationValue bare{.number = start->number};
        if (!bare.number.is_zero()) bare.mode = Mode::fraction;
        return bare;
    }
    if (tail.front() != '%') return read_amount(*start, tail);
    if (tail.size() > 1)
        return refuse(fmt::format("unexpected \"{}\" after the percentage", tail.substr(1)));
    return AllocationValue{.mode = Mode::ratio, .number = start->number};
}

tl::expected<Decimal, AllocationFault> read_number(std::string_view text) {
    const auto start = read_start(text);
    if (!start) return tl::unexpected<AllocationFault>(start.error());
    if (!start->rest.empty())
        return refuse(fmt::format("\"{}\" is not a number", text),
                      "write a number of GiB without a unit: 4.0");
    return start->number;
}

}  // namespace ballast::plan
