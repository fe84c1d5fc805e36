#include "ballast/engine/plan/natural_order.hpp"

#include <utility>

#include "ballast/engine/core/ascii.hpp"

namespace ballast::plan {
namespace {

/// The digit run that starts `text`, without leading zeros, and its whole length.
std::pair<std::string_view, std::size_t> digit_run(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && is_digit(text[length])) ++length;
    auto digits = text.substr(0, length);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    return {digits, length};
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
    const std::string_view whole_a = a;
    const std::string_view whole_b = b;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const auto [digits_a, length_a] = digit_run(a);
            const auto [digits_b, length_b] = digit_run(b);
            if (digits_a.size() != digits_b.size()) return digits_a.size() < digits_b.size();
            if (digits_a != digits_b) return digits_a < digits_b;
            a.remove_prefix(length_a);
            b.remove_prefix(length_b);
            continue;
        }
        if (a.front() != b.front()) return a.front() < b.front();
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    if (a.empty() != b.empty()) return a.empty();
    return whole_a < whole_b;  // equal but for leading zeros
}

}  // namespace ballast::plan
