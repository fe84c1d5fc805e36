#include "ballast/engine/plan/allocation_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ballast/engine/core/nearest_name.hpp"
#include "ballast/engine/core/utf8.hpp"

namespace ballast::plan {
namespace {

/// Longer parts are shown by their beginning.
constexpr std::size_t kLongestShown = 120;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Characters of names, of ours and of those that nobody knows.
bool is_in_name(char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_digit = c >= '0' && c <= '9';
    return is_letter || is_digit || c == ':' || c == '_' || c == '-' ||
           static_cast<unsigned char>(c) >= 0x80;
}

/// The device of that name, whether or not the machine has it.
std::optional<DeviceId> device_of(std::string_view name) {
    std::string lower(name);
    for (auto& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const auto device = parse_device(lower);
    if (!device || device->kind == DeviceKind::privateuseone) return std::nullopt;
    const auto colon = lower.find(':');
    if (colon == std::string::npos) return device;
    const auto index = std::string_view(lower).substr(colon + 1);
    const bool has_index = to_string(*device).find(':') != std::string::npos;
    if (!has_index || index.size() > 4 || (index.size() > 1 && index.front() == '0'))
        return std::nullopt;
    return device;
}

bool is_present(const AllocationContext& context, DeviceId device) {
    if (device.kind == DeviceKind::cpu || device.kind == DeviceKind::disk) return true;
    return std::any_of(context.devices.begin(), context.devices.end(),
                       [device](const auto& present) { return present.id == device; });
}

AllocationFault unknown_device(const AllocationContext& context, std::string_view name) {
    std::vector<std::string> names;
    for (const auto& present : context.devices)
        if (present.id.kind != DeviceKind::disk) names.push_back(to_string(present.id));
    if (std::find(names.begin(), names.end(), "cpu") == names.end()) names.emplace_back("cpu");
    std::string present;
    for (const auto& known : names) present += (present.empty() ? "" : ", ") + known;
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    const auto near = nearest_name(name, candidates);
    return {.why = fmt::format("unknown device; present: {}", present),
            .hint = near ? fmt::format("did you mean {}?", *near)
                         : "`ballast devices` lists the devices; disk can be named, too"};
}

}  // namespace

std::size_t AllocationText::find(char c, std::size_t from, std::size_t end) const {
    return std::min(text_.substr(0, end).find(c, from), end);
}

TextPart AllocationText::trimmed(std::size_t begin, std::size_t end) const {
    while (begin < end && is_blank(text_[begin])) ++begin;
    while (begin < end && is_blank(text_[end - 1])) --end;
    return {begin, end};
}

Result<DeviceId> AllocationText::read_device(TextPart& part, TextPart shown) const {
    auto end = part.begin;
    while (end < part.end && is_in_name(text_[end])) ++end;
    const auto name = of({part.begin, end});
    if (name.empty())
        return fail(fault(shown, part.begin,
                          {.why = "expected a device", .hint = "write it as cuda:0,2.5gb"}));
    const auto device = device_of(name);
    if (!device || !is_present(context_, *device))
        return fail(fault(shown, part.begin, unknown_device(context_, name)));
    part = trimmed(end, part.end);
    return *device;
}

Error AllocationText::fault(TextPart part, std::size_t at, AllocationFault fault) const {
    std::size_t column = 1;
    for (std::size_t i = 0; i < at; ++column) i += std::max<std::size_t>(1, utf8_length(text_, i));
    auto shown = std::string(of(part).substr(0, kLongestShown));
    if (part.end - part.begin > kLongestShown) shown += "...";
    return {.code = Code::usage,
            .what = "allocation string",
            .why = std::move(fault.why),
            .place = {.key = std::move(shown), .column = column},
            .hint = std::move(fault.hint)};
}

void normalise_shares(std::vector<PolicyEntry>& entries) {
    constexpr unsigned kMostDecimals = 12;
    unsigned scale = 0;
    for (const auto& entry : entries) scale = std::max(scale, entry.number.scale());
    std::vector<Wide> shares;
    Wide common;
    for (const auto& entry : entries) {
        shares.push_back(entry.number.at_scale(scale));
        common = Wide::greatest_common_divisor(common, shares.back());
    }
    Wide sum;
    for (auto& share : shares) sum += share = share / common;
    for (unsigned decimals = 0; decimals <= kMostDecimals; ++decimals) {
        const auto factor = Wide{100} * Wide::power_of_ten(decimals);
        const auto is_exact = [&](const Wide& share) { return (share * factor % sum).is_zero(); };
        if (!std::all_of(shares.begin(), shares.end(), is_exact)) continue;
        for (std::size_t i = 0; i < entries.size(); ++i)
            entries[i].number = Decimal::scaled(shares[i] * factor / sum, decimals);
        return;
    }
    // numbers that could not be typed again stay as they were typed
    const auto most = Wide::power_of_ten(Decimal::kLongest);
    if (std::any_of(shares.begin(), shares.end(), [&](const auto& s) { return s >= most; })) return;
    for (std::size_t i = 0; i < entries.size(); ++i)
        entries[i].number = Decimal::scaled(shares[i], 0);
}

}  // namespace ballast::plan
