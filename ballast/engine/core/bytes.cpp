#include "ballast/engine/core/bytes.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

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

Result<Bytes> parse_bytes(std::string_view text) {
    const auto fault = [&](std::size_t column, std::string why) {
        return fail(Error{.code = Code::usage,
                          .what = "not an amount of memory",
                          .why = fmt::format("'{}': {}", text, why),
                          .place = {.column = column},
                          .hint = "write bytes (1073741824) or a unit: 512mb, 1.5gb"});
    };
    std::string compact;
    std::size_t column = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (std::isspace(static_cast<unsigned char>(text[i])) != 0) continue;
        if (compact.empty()) column = i + 1;
        compact += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
    }
    if (compact.empty()) return fault(1, "empty");

    double value = 0;
    const auto* begin = compact.data();
    const auto* end = begin + compact.size();
    const auto [rest, failure] = std::from_chars(begin, end, value, std::chars_format::fixed);
    if (failure != std::errc{} || !std::isfinite(value)) return fault(column, "no number");
    if (value < 0) return fault(column, "negative");

    std::string_view unit{rest, static_cast<std::size_t>(end - rest)};
    double factor = 1;
    if (!unit.empty() && unit != "b") {
        const auto power = std::string_view{"kmgt"}.find(unit.front());
        const auto tail = unit.substr(1);
        if (power == std::string_view::npos || !(tail.empty() || tail == "b" || tail == "ib"))
            return fault(column, fmt::format("unknown unit '{}'", unit));
        factor = std::exp2(10.0 * static_cast<double>(power + 1));
    }
    const double bytes = std::floor(value * factor);
    if (bytes >= 0x1p63) return fault(column, "too large");
    // whole numbers without a unit stay exact beyond 2^53
    if (factor == 1) {
        std::uint64_t exact = 0;
        const auto whole = std::from_chars(begin, rest, exact);
        if (whole.ec == std::errc{} && whole.ptr == rest) return Bytes{exact};
    }
    return Bytes{static_cast<std::uint64_t>(bytes)};
}

}  // namespace ballast
