#include "ballast/engine/plan/policy.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace ballast::plan {
namespace {

/// In the largest unit that needs no fraction.
std::string amount_text(Bytes bytes) {
    constexpr std::array<std::pair<unsigned, std::string_view>, 4> kUnits{
        {{40, "tb"}, {30, "gb"}, {20, "mb"}, {10, "kb"}}};
    const auto count = bytes.count();
    for (const auto& [shift, unit] : kUnits)
        if (count >> shift != 0 && count % (std::uint64_t{1} << shift) == 0)
            return fmt::format("{}{}", count >> shift, unit);
    return fmt::format("{}b", count);
}

/// The shortest decimal number of GiB that is read as `bytes`. Ten decimals are finer than a byte.
std::string gib_text(Bytes bytes) {
    const Wide gib{std::uint64_t{1} << 30U};
    for (unsigned scale = 0;; ++scale) {
        const auto scaled = Wide{bytes.count()} * Wide::power_of_ten(scale);
        const auto above = (scaled + gib - Wide{1}) / gib;
        const auto number = Decimal::scaled(above, scale);
        if (number.floor_times(gib) == Wide{bytes.count()}) return number.text();
    }
}

std::string entry_text(Mode mode, const PolicyEntry& entry) {
    const auto device = to_string(entry.device);
    if (mode == Mode::bytes) return fmt::format("{},{}", device, amount_text(entry.bytes));
    return fmt::format("{},{}{}", device, entry.number.text(), mode == Mode::ratio ? "%" : "");
}

std::string virtual_text(const Policy& policy) {
    std::string donors;
    for (const auto donor : policy.donors) donors += (donors.empty() ? "" : ",") + to_string(donor);
    return fmt::format("#{};{};{}", to_string(policy.compute), gib_text(policy.virtual_bytes),
                       donors);
}

}  // namespace

std::string_view to_string(Mode mode) {
    switch (mode) {
        case Mode::automatic: return "auto";
        case Mode::bytes: return "bytes";
        case Mode::ratio: return "ratio";
        case Mode::fraction: return "fraction";
        case Mode::virtual_vram: return "virtual";
    }
    return "auto";
}

bool Policy::operator==(const Policy& other) const {
    return mode == other.mode && compute == other.compute && entries == other.entries &&
           rest == other.rest && advisory == other.advisory &&
           virtual_bytes == other.virtual_bytes && donors == other.donors;
}

std::optional<DeviceId> remainder_of(const Policy& policy) {
    if (policy.mode == Mode::automatic) return policy.compute;
    if (policy.rest) return policy.rest;
    if (policy.mode == Mode::virtual_vram && !policy.donors.empty()) return policy.donors.back();
    if (policy.mode == Mode::ratio) return std::nullopt;
    return kCpu;
}

std::string canonical(const Policy& policy) {
    if (policy.mode == Mode::virtual_vram) return virtual_text(policy);
    std::string text;
    for (const auto& entry : policy.entries)
        text += (text.empty() ? "" : ";") + entry_text(policy.mode, entry);
    if (policy.rest) {
        if (!text.empty()) text += ";";
        text += to_string(*policy.rest) + ",";
        if (policy.advisory) text += amount_text(*policy.advisory);
        text += "*";
    }
    return text + "#" + to_string(policy.compute);
}

}  // namespace ballast::plan
