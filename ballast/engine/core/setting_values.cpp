#include "ballast/engine/core/setting_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/engine/core/nearest_name.hpp"

namespace ballast {
namespace {

template <typename T>
std::optional<T> parse_whole(std::string_view text) {
    T value{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

Result<void> refused(Code code, std::string why, std::string hint = {}) {
    return fail(Error{.code = code,
                      .what = code == Code::not_available ? "not available yet" : "bad value",
                      .why = std::move(why),
                      .hint = std::move(hint)});
}

Result<void> check_choice(const Setting& setting, std::string_view text) {
    const auto choices = split(setting.choices, '|');
    const auto is_among = [&](const auto& list) { return std::ranges::count(list, text) != 0; };
    if (!is_among(choices)) {
        const auto near = nearest_name(text, choices);
        return refused(Code::usage,
                       fmt::format("'{}' is not one of {}", text, fmt::join(choices, ", ")),
                       near ? fmt::format("did you mean '{}'?", *near) : "");
    }
    if (is_among(split(setting.later_choices, '|')))
        return refused(Code::not_available, fmt::format("'{}' comes with a later version", text));
    return {};
}

Result<void> check_range(const Setting& setting, std::string_view text,
                         std::optional<double> value) {
    if (value && std::isfinite(*value) && *value >= setting.least && *value <= setting.most)
        return {};
    const auto kind = setting.type == SettingType::integer ? "whole number" : "number";
    const auto example =
        setting.fallback.empty() ? fmt::format("{}", setting.least) : std::string(setting.fallback);
    return refused(Code::usage,
                   fmt::format("'{}' is not a {} from {:.0f} to {:.0f}", text, kind, setting.least,
                               setting.most),
                   fmt::format("write for example --{} {}", setting.name, example));
}

Result<void> check_device_choice(const Setting& setting, std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || !parse_device(text.substr(0, equals)))
        return refused(Code::usage, fmt::format("'{}' is not DEVICE=CLASS", text),
                       "write for example cuda:0=unified");
    return check_choice(setting, text.substr(equals + 1));
}

}  // namespace

Result<MemoryShare> parse_memory_share(std::string_view text) {
    const auto fault = [&] {
        return fail(Error{.code = Code::usage,
                          .what = "bad value",
                          .why = fmt::format("'{}' is no amount of memory", text),
                          .hint = "write GiB as a number (2.5), a size (800mb) or a share (10%)"});
    };
    constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
    constexpr double kMostGiB = 1'000'000;
    if (text.ends_with('%')) {
        const auto percent = parse_whole<double>(text.substr(0, text.size() - 1));
        if (!percent || !(*percent >= 0 && *percent <= 100)) return fault();
        return MemoryShare{.percent = *percent};
    }
    if (const auto amount = parse_whole<double>(text)) {
        if (!(*amount >= 0 && *amount <= kMostGiB)) return fault();
        return MemoryShare{.bytes = Bytes{static_cast<std::uint64_t>(*amount * kGiB)}};
    }
    const auto size = parse_bytes(text);
    if (!size) return fault();
    return MemoryShare{.bytes = *size};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return parts;
}

std::optional<bool> parse_flag(std::string_view text) {
    const auto word = lower(text);
    if (word == "1" || word == "true" || word == "yes" || word == "on") return true;
    if (word.empty() || word == "0" || word == "false" || word == "no" || word == "off")
        return false;
    return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    return parse_whole<std::int64_t>(text);
}

Result<std::pair<DeviceId, Bytes>> parse_device_size(std::string_view text) {
    const auto fault = [&](std::string why) {
        return fail(Error{.code = Code::usage,
                          .what = "bad value",
                          .why = std::move(why),
                          .hint = "write DEVICE=SIZE, for example cpu=4gb"});
    };
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return fault(fmt::format("'{}' has no '='", text));
    const auto name = text.substr(0, equals);
    const auto device = parse_device(name);
    if (!device) return fault(fmt::format("'{}': no device is called '{}'", text, name));
    const auto size = parse_bytes(text.substr(equals + 1));
    if (!size) return fault(fmt::format("'{}': {}", text, size.error().why));
    return std::pair{*device, *size};
}

Result<void> check_value(const Setting& setting, std::string_view text) {
    switch (setting.type) {
        case SettingType::flag:
            if (!parse_flag(text))
                return refused(Code::usage, fmt::format("'{}' is neither true nor false", text));
            return {};
        case SettingType::text: return {};
        case SettingType::path:
            if (text.empty()) return refused(Code::usage, "the path is empty");
            if (text.find('\0') != std::string_view::npos)
                return refused(Code::usage, "the path holds a zero character",
                               "no file or folder can have such a name");
            return {};
        case SettingType::integer: {
            const auto value = parse_integer(text);
            return check_range(setting, text,
                               value ? std::optional(static_cast<double>(*value)) : std::nullopt);
        }
        case SettingType::number: return check_range(setting, text, parse_whole<double>(text));
        case SettingType::choice: return check_choice(setting, text);
        case SettingType::device_size:
            if (const auto parsed = parse_device_size(text); !parsed) return fail(parsed.error());
            return {};
        case SettingType::device_choice: return check_device_choice(setting, text);
        case SettingType::memory_share:
            if (const auto parsed = parse_memory_share(text); !parsed) return fail(parsed.error());
            return {};
    }
    return {};
}

}  // namespace ballast
