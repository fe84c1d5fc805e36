#include "ballast/graph/node_runner.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace ballast::graph {

std::int64_t NodeCall::integer(std::string_view input) const {
    const Json& found = constant(input);
    if (!found.is_number_integer()) wrong_type(input);
    return found.get<std::int64_t>();
}

std::uint64_t NodeCall::seed(std::string_view input) const {
    const Json& found = constant(input);
    if (!found.is_number_integer()) wrong_type(input);
    return found.get<std::uint64_t>();
}

double NodeCall::number(std::string_view input) const {
    const Json& found = constant(input);
    if (!found.is_number()) wrong_type(input);
    return found.get<double>();
}

bool NodeCall::flag(std::string_view input) const {
    const Json& found = constant(input);
    if (!found.is_boolean()) wrong_type(input);
    return found.get<bool>();
}

const std::string& NodeCall::text(std::string_view input) const {
    const Json& found = constant(input);
    if (!found.is_string()) wrong_type(input);
    return found.get_ref<const std::string&>();
}

const ValuePtr& NodeCall::value(std::string_view input) const {
    const auto found = inputs.find(input);
    if (found == inputs.end()) wrong_type(input);
    const auto* linked = std::get_if<ValuePtr>(&found->second);
    if (linked == nullptr || *linked == nullptr) wrong_type(input);
    return *linked;
}

const Json& NodeCall::constant(std::string_view input) const {
    const auto found = inputs.find(input);
    if (found == inputs.end()) wrong_type(input);
    const auto* json = std::get_if<Json>(&found->second);
    if (json == nullptr) wrong_type(input);
    return *json;
}

void NodeCall::wrong_type(std::string_view input) const {
    throw std::logic_error(fmt::format("node {} ({}): input {} is absent or of another type",
                                       node_id, class_type, input));
}

}  // namespace ballast::graph
