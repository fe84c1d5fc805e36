#include "ballast/graph/node_check.hpp"

#include <algorithm>
#include <variant>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/graph/conversion.hpp"

namespace ballast::graph {

namespace {

std::vector<std::string_view> split_types(std::string_view text) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto comma = text.find(',');
        parts.push_back(trimmed(text.substr(0, comma)));
        if (comma == std::string_view::npos) return parts;
        text.remove_prefix(comma + 1);
    }
}

bool is_named(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

/// The node under check and what is known of it so far.
struct NodeChecker::Subject {
    std::size_t node;
    const NodeDeclaration& declaration;
    faults::Level level;
    CheckedNode result = {};
};

bool types_are_compatible(std::string_view received, std::string_view wanted) {
    if (received == wanted) return true;
    const auto offered = split_types(received);
    const auto accepted = split_types(wanted);
    const auto has = [](const auto& types, std::string_view type) {
        return std::find(types.begin(), types.end(), type) != types.end();
    };
    if (has(offered, "*") || has(accepted, "*")) return true;
    return std::any_of(offered.begin(), offered.end(),
                       [&](std::string_view type) { return has(accepted, type); });
}

CheckedNode NodeChecker::check(std::size_t node, const Arrival& arrival) {
    Subject subject{node, *declarations_[node], arrival.level()};
    const auto& declared = subject.declaration.inputs;
    const Json* inputs = workflow_.nodes()[node].inputs();
    const bool needs_inputs = std::any_of(declared.begin(), declared.end(), [](const auto& input) {
        return input.presence == Presence::required;
    });
    if (inputs == nullptr && needs_inputs) {
        const Json link{workflow_.nodes()[node].id, arrival.output};
        subject.result.faults.push_back(
            arrival.consumer == nullptr
                ? faults::no_inputs_at_output()
                : faults::no_inputs({*arrival.consumer, *arrival.input, folders_}, link));
        return std::move(subject.result);
    }
    static const Json kNone = Json::object();
    for (const auto& input : declared) {
        if (input.is_hidden()) continue;
        const Json* value = find_member(inputs != nullptr ? *inputs : kNone, input.name);
        if (value != nullptr)
            check_input(subject, input, *value);
        else if (input.presence == Presence::required)
            subject.result.faults.push_back(faults::missing(subject.declaration, input));
    }
    run_class_check(subject);
    return std::move(subject.result);
}

void NodeChecker::check_input(Subject& subject, const InputDeclaration& input, const Json& value) {
    const faults::Input place{subject.declaration, input, folders_};
    if (is_link(value))
        check_link(subject, place, value);
    else
        check_constant(subject, place, unwrapped(value));
}

void NodeChecker::check_link(Subject& subject, const faults::Input& input, const Json& value) {
    auto& faults = subject.result.faults;
    if (value.size() != 2) {
        faults.push_back(faults::not_a_link(input, value));
        return;
    }
    const auto* id = value[0].get_ptr<const std::string*>();
    const auto source = id != nullptr ? workflow_.index_of(*id) : std::nullopt;
    if (!source) {
        faults.push_back(faults::no_such_node(input, value, subject.level));
        return;
    }
    const auto& outputs = declarations_[*source]->outputs;
    const Json& slot = value[1];
    const bool is_output =
        slot.is_number_integer() && compare(slot, 0) >= 0 && compare(slot, outputs.size()) < 0;
    if (!is_output) {
        faults.push_back(
            faults::no_such_output(input, value, *declarations_[*source], subject.level));
        // The node is there, and what is wrong with it should be told in the same reply.
        subject.result.links.push_back({&input.declaration, {*source, 0}});
        return;
    }
    const auto output = slot.get<std::size_t>();
    const std::string& received = outputs[output].type;
    // A link to itself is a cycle whatever its type is; saying so is the clearer answer.
    const bool is_self = *source == subject.node;
    if (!is_self && !types_are_compatible(received, input.declaration.type())) {
        faults.push_back(faults::other_type(input, value, received));
        return;
    }
    const Link target{*source, output};
    subject.result.links.push_back({&input.declaration, target});
    subject.result.inputs.push_back({input.name(), target});
}

void NodeChecker::check_constant(Subject& subject, const faults::Input& input, const Json& value) {
    auto& faults = subject.result.faults;
    if (input.declaration.is_link_only()) {
        const bool is_left_open =
            value.is_null() && input.declaration.presence != Presence::required;
        if (!is_left_open && input.declaration.type() != "*")
            faults.push_back(faults::link_expected(input, value));
        else if (!is_left_open)
            subject.result.inputs.push_back({input.name(), value});
        return;
    }
    auto constant = converted(value, input.declaration);
    if (!constant) {
        faults.push_back(faults::not_convertible(input, value, constant.error()));
        return;
    }
    const bool is_left_to_class = is_named(subject.declaration.class_check.inputs, input.name());
    auto fault = is_left_to_class ? std::nullopt : check_range(input, *constant);
    if (fault)
        faults.push_back(*std::move(fault));
    else
        subject.result.inputs.push_back({input.name(), *std::move(constant)});
}

std::optional<Fault> NodeChecker::check_range(const faults::Input& input, const Json& value) {
    const auto& field = input.declaration.field;
    if (const auto* integer = std::get_if<IntegerField>(&field)) {
        if (compare(value, integer->min) < 0)
            return faults::below_min(input, value, to_json(integer->min));
        if (compare(value, integer->max) > 0)
            return faults::above_max(input, value, to_json(integer->max));
    } else if (const auto* number = std::get_if<NumberField>(&field)) {
        if (value.get<double>() < number->min) return faults::below_min(input, value, number->min);
        if (value.get<double>() > number->max) return faults::above_max(input, value, number->max);
    } else if (std::holds_alternative<ChoiceField>(field)) {
        const auto& options = offered(input.declaration);
        if (!value.is_string() || !is_named(options, value.get_ref<const std::string&>()))
            return faults::not_offered(input, value, options);
        const auto is_available = std::get<ChoiceField>(field).is_available;
        if (is_available != nullptr && !is_available(value.get_ref<const std::string&>()))
            return faults::not_available(input, value);
    }
    return std::nullopt;
}

void NodeChecker::run_class_check(Subject& subject) {
    const auto& check = subject.declaration.class_check;
    if (check.check == nullptr) return;
    Constants constants = Json::object();
    for (const auto& input : subject.result.inputs)
        if (const auto* constant = std::get_if<Json>(&input.value))
            append_member(constants, input.name, *constant);
    // Only what the class can judge: an input that is missing or linked is not its business.
    std::vector<std::string> given;
    for (const auto& name : check.inputs)
        if (constants.contains(name)) given.push_back(name);
    if (given.empty()) return;
    const auto refusal = check.check(constants, folders_);
    if (!refusal) return;
    for (const auto& name : given)
        subject.result.faults.push_back(faults::refused_by_class(name, *refusal));
}

const std::vector<std::string>& NodeChecker::offered(const InputDeclaration& input) {
    const auto known = offered_.find(&input);
    if (known != offered_.end()) return known->second;
    return offered_.emplace(&input, options(std::get<ChoiceField>(input.field), folders_))
        .first->second;
}

}  // namespace ballast::graph
