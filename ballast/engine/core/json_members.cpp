#include "ballast/engine/core/json_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "ballast/engine/core/nearest_name.hpp"
#include "ballast/engine/core/text_position.hpp"

namespace ballast {
namespace {

using Json = nlohmann::json;

const Json& json(const void* value) { return *static_cast<const Json*>(value); }

/// 1 EiB: more than any machine has, and far from where sums of sizes would overflow.
constexpr double kMostBytes = 1152921504606846976.0;

std::string shortened(const Json& value) {
    constexpr std::size_t kMost = 40;
    auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > kMost) text = text.substr(0, kMost) + "...";
    return text;
}

}  // namespace

void JsonFindings::refuse(Code code, std::string path, std::string why, std::string hint) {
    if (!refusal) refusal = Refusal{code, std::move(path), std::move(why), std::move(hint)};
}

JsonMembers::JsonMembers(const void* value, std::string path, JsonFindings& findings)
    : value_(value), path_(std::move(path)), findings_(&findings) {}

JsonMembers::JsonMembers(JsonMembers&& other) noexcept
    : value_(std::exchange(other.value_, nullptr)),
      path_(std::move(other.path_)),
      findings_(other.findings_),
      asked_(std::move(other.asked_)) {}

JsonMembers::~JsonMembers() {
    if (value_ == nullptr) return;
    const std::vector<std::string_view> names(asked_.begin(), asked_.end());
    for (const auto& [key, ignored] : json(value_).items()) {
        if (std::ranges::find(asked_, key) != asked_.end()) continue;
        auto warning = fmt::format("{}: there is no such key", escaped(path_of(key)));
        if (const auto near = nearest_name(key, names))
            warning += fmt::format("; did you mean \"{}\"?", *near);
        findings_->warnings.push_back(std::move(warning));
    }
}

std::string JsonMembers::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const void* JsonMembers::find(std::string_view key) {
    if (std::ranges::find(asked_, key) == asked_.end()) asked_.emplace_back(key);
    const auto found = json(value_).find(key);
    return found == json(value_).end() || found->is_null() ? nullptr : &*found;
}

void JsonMembers::refuse(std::string_view key, std::string why, std::string hint) {
    findings_->refuse(Code::bad_value, path_of(key), std::move(why), std::move(hint));
}

bool JsonMembers::has(std::string_view key) { return find(key) != nullptr; }

std::string JsonMembers::text(std::string_view key) {
    const auto* value = static_cast<const Json*>(find(key));
    if (value == nullptr) return {};
    if (value->is_string()) return value->get<std::string>();
    refuse(key, fmt::format("{} is not a text", shortened(*value)));
    return {};
}

std::vector<std::string> JsonMembers::texts(std::string_view key) {
    const auto* value = static_cast<const Json*>(find(key));
    if (value == nullptr) return {};
    std::vector<std::string> result;
    if (value->is_array())
        for (const auto& element : *value)
            if (element.is_string()) result.push_back(element.get<std::string>());
    if (!value->is_array() || result.size() != value->size())
        refuse(key, fmt::format("{} is not a list of texts", shortened(*value)));
    return result;
}

std::optional<double> JsonMembers::number(std::string_view key, double least,
                                          std::string_view form) {
    const auto* value = static_cast<const Json*>(find(key));
    if (value == nullptr) return std::nullopt;
    if (value->is_number()) {
        const auto number = value->get<double>();
        if (std::isfinite(number) && number >= least) return number;
    }
    refuse(key, fmt::format("{} is not {}", shortened(*value), form),
           "leave the key out if the figure is unknown");
    return std::nullopt;
}

std::optional<Bytes> JsonMembers::bytes(std::string_view key) {
    const auto* value = static_cast<const Json*>(find(key));
    if (value == nullptr) return std::nullopt;
    const bool is_count =
        value->is_number_unsigned() ||
        (value->is_number() && value->get<double>() >= 0 && value->get<double>() <= kMostBytes &&
         std::floor(value->get<double>()) == value->get<double>());
    if (!is_count || value->get<double>() > kMostBytes) {
        refuse(key,
               fmt::format("{} is not a size: a whole number of bytes from 0 to 2^60",
                           shortened(*value)),
               "leave the key out if the size is unknown");
        return std::nullopt;
    }
    return Bytes{value->is_number_float() ? static_cast<std::uint64_t>(value->get<double>())
                                          : value->get<std::uint64_t>()};
}

std::optional<double> JsonMembers::rate(std::string_view key) {
    return number(key, std::numeric_limits<double>::min(), "a number above 0");
}

std::optional<double> JsonMembers::amount(std::string_view key) {
    return number(key, 0, "a number of at least 0");
}

std::map<std::string, double> JsonMembers::rates(std::string_view key) {
    std::map<std::string, double> result;
    const auto* value = static_cast<const Json*>(find(key));
    if (value == nullptr) return result;
    if (!value->is_object()) {
        refuse(key, fmt::format("{} is not an object", shortened(*value)));
        return result;
    }
    JsonMembers members(value, path_of(key), *findings_);
    for (const auto& [name, ignored] : value->items())
        if (const auto rate = members.rate(name)) result[name] = *rate;
    return result;
}

std::optional<bool> JsonMembers::truth(std::string_view key) {
    const auto* value = static_cast<const Json*>(find(key));
    if (value == nullptr) return std::nullopt;
    if (value->is_boolean()) return value->get<bool>();
    if (value->is_number() && (*value == 0 || *value == 1)) return *value == 1;
    refuse(key, fmt::format("{} is none of 0, 1, true, false, null", shortened(*value)));
    return std::nullopt;
}

std::optional<DeviceId> JsonMembers::device(std::string_view key) {
    constexpr std::string_view kHint = "devices are called cuda:0, xpu:0, mps, npu:0, mlu:0, ...";
    const auto* value = static_cast<const Json*>(find(key));
    if (value == nullptr) {
        refuse(key, "the device's name is missing", std::string(kHint));
        return std::nullopt;
    }
    auto id = value->is_string() ? parse_device(value->get<std::string>()) : std::nullopt;
    if (!id) refuse(key, fmt::format("{} names no device", shortened(*value)), std::string(kHint));
    return id;
}

std::optional<JsonMembers> JsonMembers::object(std::string_view key) {
    const auto* value = static_cast<const Json*>(find(key));
    if (value == nullptr) return std::nullopt;
    if (value->is_object()) return JsonMembers(value, path_of(key), *findings_);
    refuse(key, fmt::format("{} is not an object", shortened(*value)));
    return std::nullopt;
}

std::vector<JsonMembers> JsonMembers::objects(std::string_view key) {
    std::vector<JsonMembers> result;
    const auto* value = static_cast<const Json*>(find(key));
    if (value == nullptr) return result;
    if (!value->is_array()) {
        refuse(key, fmt::format("{} is not a list", shortened(*value)));
        return result;
    }
    result.reserve(value->size());
    for (std::size_t i = 0; i < value->size(); ++i) {
        const auto name = fmt::format("{}[{}]", key, i);
        if ((*value)[i].is_object())
            result.push_back(JsonMembers(&(*value)[i], path_of(name), *findings_));
        else
            refuse(name, fmt::format("{} is not an object", shortened((*value)[i])));
    }
    return result;
}

void JsonMembers::at_most(std::string_view key, std::optional<Bytes>& value,
                          std::string_view most_key, std::optional<Bytes> most) {
    if (!value || !most || *value <= *most) return;
    findings_->warnings.push_back(fmt::format("{}: {} is more than {} ({}), which is taken instead",
                                              path_of(key), value->count(), most_key,
                                              most->count()));
    value = most;
}

struct JsonDocument::Value {
    Json json;
};

JsonDocument::JsonDocument(std::unique_ptr<Value> value) : value_(std::move(value)) {}
JsonDocument::JsonDocument(JsonDocument&& other) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&& other) noexcept = default;
JsonDocument::~JsonDocument() = default;

Result<JsonDocument> JsonDocument::parse(std::string_view text) {
    const auto refused = [](std::string why) {
        return fail(Error{.code = Code::corrupt_file, .why = std::move(why)});
    };
    // the parser takes a zero character for the end and what follows for nothing
    if (const auto zero = text.find('\0'); zero != std::string_view::npos)
        return refused(
            fmt::format("not JSON: a zero character at {}", line_and_column(text, zero)));
    try {
        auto value = std::make_unique<Value>(Value{Json::parse(text)});
        if (!value->json.is_object()) return refused("not a JSON object");
        return JsonDocument(std::move(value));
    } catch (const Json::parse_error& error) {
        // the library counts the bytes that it has read, the faulty one included
        const auto at = error.byte > 0 ? error.byte - 1 : 0;
        return refused(fmt::format("not JSON: {}", line_and_column(text, at)));
    } catch (const Json::exception&) {
        return refused("not JSON: a number that no type can hold");
    }
}

JsonMembers JsonDocument::members(JsonFindings& findings) const {
    return {&value_->json, {}, findings};
}

}  // namespace ballast
