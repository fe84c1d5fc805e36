#include "ballast/engine/core/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "ballast/engine/core/setting_values.hpp"

namespace ballast {
namespace {

/// All settings that one source gives, by row.
using Layer = std::map<std::size_t, std::vector<std::string>>;

Place place_of(const Setting& setting, SettingSource source, const std::filesystem::path& file) {
    switch (source) {
        case SettingSource::command_line: return {.key = fmt::format("--{}", setting.name)};
        case SettingSource::environment:
            return {.key = fmt::format("environment variable {}", environment_name(setting))};
        case SettingSource::file: return {.file = file.string(), .key = std::string(setting.name)};
        case SettingSource::fallback: return {};
    }
    return {};
}

Error usage(Place place, std::string what, std::string why) {
    return {.code = Code::usage,
            .what = std::move(what),
            .why = std::move(why),
            .place = std::move(place)};
}

/// True when the given texts turn the setting on: a flag may also be given as false.
bool is_on(const Setting& setting, const std::vector<std::string>& texts) {
    return setting.type != SettingType::flag || parse_flag(texts.back()).value_or(false);
}

/// Texts of the form DEVICE=... that name each device once.
Result<void> check_devices(const std::vector<std::string>& texts, const Place& place) {
    std::set<DeviceId> seen;
    for (const auto& text : texts) {
        const auto device = parse_device(std::string_view(text).substr(0, text.find('=')));
        if (device && !seen.insert(*device).second)
            return fail(
                usage(place, "bad value", fmt::format("{} is given twice", to_string(*device))));
    }
    return {};
}

Result<void> check_setting(const Setting& setting, const std::vector<std::string>& texts,
                           CommandMask command, const Place& place) {
    if ((setting.announced & command) != 0 && is_on(setting, texts))
        return fail(Error{.code = Code::not_available,
                          .what = "not available yet",
                          .why = "this setting comes with a later version",
                          .place = place,
                          .hint = "leave it out"});
    for (const auto& text : texts) {
        auto checked = check_value(setting, text);
        if (checked) continue;
        auto error = std::move(checked).error();
        error.place = place;
        return fail(std::move(error));
    }
    if (setting.type == SettingType::device_size || setting.type == SettingType::device_choice)
        return check_devices(texts, place);
    return {};
}

/// Two settings of one exclusive set in one source contradict each other.
Result<void> check_exclusive(const Layer& layer, SettingSource source,
                             const std::filesystem::path& file) {
    std::map<Exclusive, std::size_t> first;
    for (const auto& [index, texts] : layer) {
        const auto& setting = kSettings[index];
        if (setting.exclusive == Exclusive::none || !is_on(setting, texts)) continue;
        const auto [other, is_new] = first.emplace(setting.exclusive, index);
        if (is_new) continue;
        const auto rival = place_of(kSettings[other->second], source, file);
        return fail(usage(place_of(setting, source, file), "contradiction",
                          fmt::format("it excludes {}", rival.key)));
    }
    return {};
}

Layer environment_layer(const Environment& environment, CommandMask command) {
    Layer layer;
    if (!environment) return layer;
    for (std::size_t i = 0; i < kSettings.size(); ++i) {
        const auto& setting = kSettings[i];
        if (setting.reach != Reach::everywhere || (setting.commands & command) == 0) continue;
        const auto text = environment(environment_name(setting));
        if (!text) continue;
        // an empty variable means "not set", as everywhere on Unix
        if (text->empty()) continue;
        auto& texts = layer[i];
        if (setting.arity == Arity::once) {
            texts.push_back(*text);
        } else {
            for (const auto part : split(*text, setting.separator))
                if (!part.empty()) texts.emplace_back(part);
            if (texts.empty()) layer.erase(i);
        }
    }
    return layer;
}

Layer layer_of(const std::vector<GivenSetting>& given, CommandMask command) {
    Layer layer;
    for (const auto& [name, texts] : given) {
        if ((name.row().commands & command) == 0 || texts.empty()) continue;
        auto& all = layer[name.index()];
        all.insert(all.end(), texts.begin(), texts.end());
    }
    return layer;
}

}  // namespace

std::optional<SettingName> find_setting(std::string_view name) {
    if (name.empty()) return std::nullopt;
    for (std::size_t i = 0; i < kSettings.size(); ++i)
        if (kSettings[i].name == name || kSettings[i].alias == name) return SettingName(i);
    return std::nullopt;
}

std::string environment_name(const Setting& setting) {
    if (setting.reach == Reach::command_line) return {};
    std::string name = "BALLAST_";
    for (const char c : setting.name) {
        const bool is_lower = c >= 'a' && c <= 'z';
        name += c == '-' ? '_' : is_lower ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return name;
}

Environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        if (value == nullptr) return std::nullopt;
        return value;
    };
}

Result<Settings> resolve_settings(const SettingSources& sources) {
    const std::array<std::pair<SettingSource, Layer>, 3> from_weak_to_strong{{
        {SettingSource::file, layer_of(sources.file, sources.command)},
        {SettingSource::environment, environment_layer(sources.environment, sources.command)},
        {SettingSource::command_line, layer_of(sources.command_line, sources.command)},
    }};
    Settings settings;
    for (const auto& [source, layer] : from_weak_to_strong) {
        for (const auto& [index, texts] : layer) {
            const auto& setting = kSettings[index];
            const auto checked = check_setting(setting, texts, sources.command,
                                               place_of(setting, source, sources.file_path));
            if (!checked) return fail(checked.error());
        }
        if (const auto checked = check_exclusive(layer, source, sources.file_path); !checked)
            return fail(checked.error());
        for (const auto& [index, texts] : layer) {
            const auto set = kSettings[index].exclusive;
            if (set == Exclusive::none || !is_on(kSettings[index], texts)) continue;
            for (std::size_t i = 0; i < kSettings.size(); ++i)
                if (kSettings[i].exclusive == set) settings.entries_[i] = {};
        }
        for (const auto& [index, texts] : layer) settings.entries_[index] = {texts, source};
    }
    return settings;
}

Settings::Settings() : entries_(kSettings.size()) {
    for (std::size_t i = 0; i < kSettings.size(); ++i)
        if (!kSettings[i].fallback.empty()) entries_[i].texts.emplace_back(kSettings[i].fallback);
}

const Settings::Entry& Settings::entry(SettingName name, SettingType type) const {
    if (name.row().type != type)
        throw std::logic_error(fmt::format("setting {} has another type", name.row().name));
    return entry(name);
}

bool Settings::flag(SettingName name) const {
    const auto& texts = entry(name, SettingType::flag).texts;
    return !texts.empty() && parse_flag(texts.back()).value_or(false);
}

std::int64_t Settings::integer(SettingName name) const {
    const auto& texts = entry(name, SettingType::integer).texts;
    return texts.empty() ? 0 : parse_integer(texts.back()).value_or(0);
}

std::string Settings::text(SettingName name) const {
    const auto& texts = entry(name).texts;
    return texts.empty() ? std::string{} : texts.back();
}

std::vector<std::string> Settings::list(SettingName name) const { return entry(name).texts; }

std::map<DeviceId, std::string> Settings::device_choices(SettingName name) const {
    std::map<DeviceId, std::string> choices;
    for (const auto& text : entry(name, SettingType::device_choice).texts) {
        const auto equals = text.find('=');
        if (const auto device = parse_device(std::string_view(text).substr(0, equals)))
            choices.emplace(*device, text.substr(equals + 1));
    }
    return choices;
}

std::map<DeviceId, Bytes> Settings::device_sizes(SettingName name) const {
    std::map<DeviceId, Bytes> sizes;
    for (const auto& text : entry(name, SettingType::device_size).texts)
        if (const auto parsed = parse_device_size(text)) sizes.insert(*parsed);
    return sizes;
}

}  // namespace ballast
