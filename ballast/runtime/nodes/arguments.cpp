#include "ballast/runtime/nodes/arguments.hpp"

namespace ballast::runtime::nodes {

const graph::Input* Arguments::find(std::string_view name) const {
    const auto found = call_->inputs.find(std::string(name));
    return found == call_->inputs.end() ? nullptr : &found->second;
}

Error Arguments::error(std::string_view name, std::string why, Code code) const {
    return Error{.code = code,
                 .what = "cannot run " + call_->class_type,
                 .why = std::move(why),
                 .place = {.node = call_->node_id, .key = std::string(name)}};
}

const graph::Value* Arguments::value_of(std::string_view name) const {
    const auto* input = find(name);
    if (input == nullptr) throw Failure(error(name, "the input is missing"));
    const auto* value = std::get_if<graph::ValuePtr>(input);
    return value == nullptr ? nullptr : value->get();
}

const nlohmann::json& Arguments::constant(std::string_view name) const {
    const auto* input = find(name);
    if (input == nullptr) throw Failure(error(name, "the input is missing"));
    const auto* json = std::get_if<nlohmann::json>(input);
    if (json == nullptr) throw Failure(error(name, "a link where a plain value is needed"));
    return *json;
}

std::int64_t Arguments::integer(std::string_view name) const {
    const auto& json = constant(name);
    if (!json.is_number_integer()) throw Failure(error(name, "not an integer"));
    return json.get<std::int64_t>();
}

std::uint64_t Arguments::seed(std::string_view name) const {
    const auto& json = constant(name);
    if (!json.is_number_integer()) throw Failure(error(name, "not an integer"));
    return json.get<std::uint64_t>();
}

double Arguments::number(std::string_view name) const {
    const auto& json = constant(name);
    if (!json.is_number()) throw Failure(error(name, "not a number"));
    return json.get<double>();
}

std::string Arguments::text(std::string_view name) const {
    const auto& json = constant(name);
    if (!json.is_string()) throw Failure(error(name, "not a text"));
    return json.get<std::string>();
}

bool Arguments::flag(std::string_view name) const {
    const auto& json = constant(name);
    if (!json.is_boolean()) throw Failure(error(name, "not true or false"));
    return json.get<bool>();
}

}  // namespace ballast::runtime::nodes
