#include "ballast/engine/plan/decimal.hpp"

namespace ballast::plan {
namespace {

bool is_digits(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Decimal::Decimal(std::string whole, std::string_view fraction) : text_(std::move(whole)) {
    text_.erase(0, text_.find_first_not_of('0'));  // all of it when there is nothing else
    if (text_.empty()) text_.push_back('0');
    fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
    if (!fraction.empty()) text_.append(".").append(fraction);
}

std::optional<Decimal> Decimal::parse(std::string_view text) {
    const auto point = text.find('.');
    const auto whole = text.substr(0, point);
    const auto fraction =
        point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
    if (text.size() > kLongest || !is_digits(whole) || !is_digits(fraction)) return std::nullopt;
    if (whole.empty() && fraction.empty()) return std::nullopt;
    return Decimal(std::string(whole), fraction);
}

Decimal Decimal::scaled(const Wide& digits, unsigned scale) {
    auto text = digits.text();
    if (text.size() <= scale) text.insert(0, scale + 1 - text.size(), '0');
    const auto whole = text.size() - scale;
    return Decimal(text.substr(0, whole), std::string_view(text).substr(whole));
}

Wide Decimal::digits() const {
    Wide number;
    for (const char c : text_)
        if (c != '.') number = number * Wide{10} + Wide{static_cast<WideBytes>(c - '0')};
    return number;
}

unsigned Decimal::scale() const {
    const auto point = text_.find('.');
    return point == std::string::npos ? 0 : static_cast<unsigned>(text_.size() - point - 1);
}

Wide Decimal::at_scale(unsigned wanted) const {
    return digits() * Wide::power_of_ten(wanted - scale());
}

bool Decimal::exceeds(std::uint64_t limit) const {
    return digits() > Wide{limit} * Wide::power_of_ten(scale());
}

Wide Decimal::floor_times(const Wide& factor, const Wide& divisor) const {
    return digits() * factor / (Wide::power_of_ten(scale()) * divisor);
}

}  // namespace ballast::plan
