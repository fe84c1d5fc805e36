#include "ballast/graph/python_text.hpp"

#include <fmt/format.h>

#include "ballast/graph/python_json.hpp"

namespace ballast::graph {

namespace {

/// Single quotes, unless the text has these and no double ones.
std::string quoted(const std::string& text) {
    const bool has_single = text.find('\'') != std::string::npos;
    const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
    std::string result{quote};
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == quote || c == '\\')
            result += {'\\', c};
        else if (c == '\n')
            result += "\\n";
        else if (c == '\r')
            result += "\\r";
        else if (c == '\t')
            result += "\\t";
        else if (code < 0x20 || code == 0x7F)
            result += fmt::format("\\x{:02x}", code);
        else
            result += c;
    }
    return result + quote;
}

std::string list_of(const Json& elements) {
    std::string text;
    for (const auto& element : elements) {
        if (!text.empty()) text += ", ";
        text += python_repr(element);
    }
    return "[" + text + "]";
}

std::string dictionary_of(const Json& object) {
    std::string text;
    for (const auto& [name, value] : object.get_ref<const Json::object_t&>()) {
        if (!text.empty()) text += ", ";
        text += quoted(name) + ": " + python_repr(value);
    }
    return "{" + text + "}";
}

}  // namespace

std::string python_str(const Json& value) {
    return value.is_string() ? value.get<std::string>() : python_repr(value);
}

std::string python_repr(const Json& value) {
    if (value.is_string()) return quoted(value.get_ref<const std::string&>());
    if (value.is_null()) return "None";
    if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
    if (value.is_array()) return list_of(value);
    if (value.is_object()) return dictionary_of(value);
    return python_json(value);  // numbers are written alike
}

std::string python_list(std::span<const std::string> texts) {
    Json elements = Json::array();
    for (const auto& text : texts) elements.push_back(text);
    return list_of(elements);
}

}  // namespace ballast::graph
