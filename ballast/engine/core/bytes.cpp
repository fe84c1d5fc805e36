#include "ballast/engine/core/bytes.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "ballast/engine/core/ascii.hpp"

namespace ballast {

std::string to_string(Bytes bytes) {
    constexpr std::array<std::string_view, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes.count() < 1024) return fmt::format("{} B", bytes.count());
    auto value = static_cast<double>(bytes.count());
    std::size_t unit = 0;
    // 1023.995 would print as 1024.00 of the smaller unit
    while (value >= 1023.995 && unit + 1 < kUnits.size()) {
        value /= 1024.0;
        ++unit;
    }
    return fmt::format("{:.2f} {}", value, kUnits[unit]);
}

namespace {

/// 1 for "" and "b", 1024 for "k", "kb" and "kib", and so on; nothing for anything else.
std::optional<double> factor_of(std::string_view unit) {
    if (unit.empty() || unit == "b") return 1;
    const auto power = std::string_view{"kmgtp"}.find(unit.front());
    const auto tail = unit.substr(1);
    const bool is_known = tail.empty() || tail == "b" || tail == "ib";
    if (power == std::string_view::npos || !is_known) return std::nullopt;
    return std::exp2(10.0 * static_cast<double>(power + 1));
}

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
    const auto amount = trimmed(text);
    const auto column =
        amount.empty() ? 1 : static_cast<std::size_t>(amount.data() - text.data()) + 1;
    const auto fault = [&](std::string why) {
        return fail(Error{.code = Code::usage,
                          .what = "not an amount of memory",
                          .why = fmt::format("'{}': {}", text, why),
                          .place = {.column = column},
                          .hint = "write bytes (1073741824) or a unit: 512mb, 1.5gb"});
    };
    if (amount.empty()) return fault("empty");
    const auto* begin = amount.data();
    const auto* end = begin + amount.size();
    double number = 0;
    const auto [rest, failure] = std::from_chars(begin, end, number, std::chars_format::fixed);
    if (failure != std::errc{} || !std::isfinite(number)) return fault("no number");
    if (std::signbit(number)) return fault("negative");

    const auto unit = trimmed({rest, static_cast<std::size_t>(end - rest)});
    const auto factor = factor_of(lower(unit));
    if (!factor) return fault(fmt::format("unknown unit '{}'", unit));
    const double bytes = std::floor(number * *factor);
    if (bytes >= 0x1p63) return fault("too large");
    if (*factor != 1) return Bytes{static_cast<std::uint64_t>(bytes)};
    if (bytes != number) return fault("part of a byte");
    // a double is not exact beyond 2^53
    std::uint64_t exact = 0;
    const auto whole = std::from_chars(begin, rest, exact);
    return Bytes{whole.ptr == rest ? exact : static_cast<std::uint64_t>(bytes)};
}

}  // namespace ballast
