#include "ballast/engine/core/settings_file.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "ballast/engine/core/json_members.hpp"
#include "ballast/engine/core/nearest_name.hpp"
#include "ballast/engine/core/text_file.hpp"

namespace ballast {
namespace {

using Json = nlohmann::json;

constexpr auto kCannotUse = "cannot use the settings file";
constexpr Bytes kLargestFile{std::uint64_t{1} << 20U};

Error about(const std::filesystem::path& path, Code code, std::string why, std::string key = {}) {
    return {.code = code,
            .what = kCannotUse,
            .why = std::move(why),
            .place = {.file = path.string(), .key = std::move(key)}};
}

bool has_form(const Json& value, SettingType type) {
    switch (type) {
        case SettingType::flag: return value.is_boolean();
        case SettingType::integer: return value.is_number_integer();
        case SettingType::number: return value.is_number();
        case SettingType::text:
        case SettingType::path:
        case SettingType::choice:
        case SettingType::device_size:
        case SettingType::device_choice: return value.is_string();
        case SettingType::memory_share: return value.is_string() || value.is_number();
    }
    return false;
}

std::string_view form_of(SettingType type) {
    switch (type) {
        case SettingType::flag: return "true or false";
        case SettingType::integer: return "a whole number";
        case SettingType::number: return "a number";
        case SettingType::text:
        case SettingType::path:
        case SettingType::choice: return "a text";
        case SettingType::device_size: return "an object such as {\"cpu\": \"8gb\"}";
        case SettingType::device_choice: return "an object such as {\"cuda:0\": \"unified\"}";
        case SettingType::memory_share: return "a number of GiB, or a text such as \"10%\"";
    }
    return "";
}

/// The texts that the command line would hold for `value`, or nothing if the form is wrong.
std::optional<std::vector<std::string>> texts_of(const Json& value, const Setting& setting) {
    const auto text_of = [](const Json& single) {
        return single.is_string() ? single.get<std::string>() : single.dump();
    };
    const bool is_by_device =
        setting.type == SettingType::device_size || setting.type == SettingType::device_choice;
    if (is_by_device && value.is_object()) {
        std::vector<std::string> texts;
        for (const auto& [device, size] : value.items()) {
            if (!size.is_string() && !size.is_number_unsigned()) return std::nullopt;
            texts.push_back(device + "=" + text_of(size));
        }
        return texts;
    }
    if (setting.arity == Arity::list && value.is_array()) {
        std::vector<std::string> texts;
        for (const auto& single : value) {
            if (!has_form(single, setting.type)) return std::nullopt;
            texts.push_back(text_of(single));
        }
        return texts;
    }
    if (!has_form(value, setting.type)) return std::nullopt;
    return std::vector{text_of(value)};
}

/// Notices the second of two members of one name, which the document itself does not keep.
class Repetitions {
public:
    bool look_at(int depth, Json::parse_event_t event, const Json& value) {
        // keys are told at the depth of their object's members
        if (event == Json::parse_event_t::object_start) keys_[depth + 1].clear();
        if (event != Json::parse_event_t::key) return true;
        auto name = value.get<std::string>();
        if (!keys_[depth].insert(name).second && !found_) found_ = std::move(name);
        return true;
    }
    [[nodiscard]] const std::optional<std::string>& found() const { return found_; }

private:
    std::map<int, std::set<std::string>> keys_;  // of the objects that are open, by depth
    std::optional<std::string> found_;
};

std::string hint_for(const std::string& key) {
    std::vector<std::string_view> names;
    for (const auto& setting : kSettings)
        if (setting.reach == Reach::everywhere) names.push_back(setting.name);
    if (const auto near = nearest_name(key, names))
        return fmt::format("did you mean \"{}\"?", *near);
    return "names are those of the options without the dashes in front";
}

}  // namespace

Result<std::vector<GivenSetting>> read_settings_file(const std::filesystem::path& path) {
    const auto text = read_text_file(path, kLargestFile);
    if (!text) {
        auto error = text.error();
        error.what = kCannotUse;
        return fail(std::move(error));
    }
    if (const auto checked = JsonDocument::parse(*text); !checked) {
        auto error = about(path, checked.error().code, checked.error().why);
        error.hint = "write an object such as {\"output\": \"pictures\", \"threads\": 4}";
        return fail(std::move(error));
    }
    Repetitions repetitions;
    const auto document =
        Json::parse(*text, [&](int depth, Json::parse_event_t event, const Json& value) {
            return repetitions.look_at(depth, event, value);
        });
    if (const auto& key = repetitions.found()) {
        auto error = about(path, Code::usage, "it is given twice", *key);
        error.hint = "keep one of the two";
        return fail(std::move(error));
    }

    std::vector<GivenSetting> given;
    for (const auto& [key, value] : document.items()) {
        const auto name = find_setting(key);
        if (!name) {
            auto error = about(path, Code::usage, "there is no such setting", key);
            error.hint = hint_for(key);
            return fail(std::move(error));
        }
        if (name->row().reach == Reach::command_line) {
            auto error = about(path, Code::usage, "it belongs on the command line", key);
            error.hint = fmt::format("give it as --{} and take it out of the file", key);
            return fail(std::move(error));
        }
        auto texts = texts_of(value, name->row());
        if (!texts)
            return fail(about(path, Code::usage,
                              fmt::format("it must be {}", form_of(name->row().type)), key));
        given.push_back({*name, *std::move(texts)});
    }
    return given;
}

}  // namespace ballast
