#include "ballast/graph/node_declaration.hpp"

#include <algorithm>

#include "ballast/graph/folders.hpp"

namespace ballast::graph {

namespace {

template <typename... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 16 does not deduce aggregates by itself

InputDeclaration chosen_from(std::string name, ChoiceField field, std::string tooltip) {
    return {.name = std::move(name), .field = std::move(field), .tooltip = std::move(tooltip)};
}

}  // namespace

std::string InputDeclaration::type() const {
    return std::visit(Overloaded{[](const LinkOnly& link) { return link.type; },
                                 [](const IntegerField&) { return std::string{"INT"}; },
                                 [](const NumberField&) { return std::string{"FLOAT"}; },
                                 [](const TextField&) { return std::string{"STRING"}; },
                                 [](const ToggleField&) { return std::string{"BOOLEAN"}; },
                                 [](const ChoiceField&) { return std::string{"COMBO"}; },
                                 [](const HiddenField& hidden) { return hidden.type; }},
                      field);
}

const InputDeclaration* NodeDeclaration::input(std::string_view name) const {
    const auto found = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const auto& input) { return input.name == name; });
    return found == inputs.end() ? nullptr : &*found;
}

InputDeclaration link(std::string name, std::string type, std::string tooltip) {
    return {
        .name = std::move(name), .field = LinkOnly{std::move(type)}, .tooltip = std::move(tooltip)};
}

InputDeclaration choice(std::string name, std::vector<std::string> options, std::string tooltip) {
    return chosen_from(std::move(name), {std::move(options)}, std::move(tooltip));
}

InputDeclaration available_if(bool (*is_available)(std::string_view), std::string instead,
                              InputDeclaration input) {
    auto& field = std::get<ChoiceField>(input.field);
    field.is_available = is_available;
    field.instead = std::move(instead);
    return input;
}

InputDeclaration model_file(std::string name, std::string folder, std::string tooltip) {
    return chosen_from(std::move(name), {ModelFiles{.folder = std::move(folder)}},
                       std::move(tooltip));
}

InputDeclaration hidden(std::string name, std::string type) {
    return {.name = std::move(name),
            .field = HiddenField{std::move(type)},
            .presence = Presence::optional};
}

InputDeclaration optional(InputDeclaration input) {
    input.presence = Presence::optional;
    return input;
}

InputDeclaration legacy(InputDeclaration input) {
    input.presence = Presence::legacy;
    return input;
}

std::vector<std::string> options(const ChoiceField& field, const Folders& folders) {
    return std::visit(Overloaded{[](const std::vector<std::string>& names) { return names; },
                                 [&](const ModelFiles& files) {
                                     return files.list != nullptr ? files.list(folders)
                                                                  : folders.models(files.folder);
                                 },
                                 [&](const InputPictures&) { return folders.input_pictures(); },
                                 [](const PresentDevices& devices) { return devices.names; }},
                      field.from);
}

Json to_json(WholeNumber value) {
    return value.is_negative() ? Json(value.as_signed()) : Json(value.as_unsigned());
}

std::optional<Json> default_value(const InputDeclaration& input) {
    using Value = std::optional<Json>;
    if (input.presence == Presence::legacy) return std::nullopt;
    return std::visit(
        Overloaded{[](const LinkOnly&) -> Value { return std::nullopt; },
                   [](const IntegerField& field) -> Value { return to_json(field.default_value); },
                   [](const NumberField& field) -> Value { return field.default_value; },
                   [](const TextField& field) -> Value { return field.default_value.value_or(""); },
                   [](const ToggleField& field) -> Value { return field.default_value; },
                   [](const ChoiceField& field) -> Value {
                       if (!field.default_value.empty()) return field.default_value;
                       const auto* names = std::get_if<std::vector<std::string>>(&field.from);
                       if (names == nullptr || names->empty()) return std::nullopt;
                       return names->front();
                   },
                   [](const HiddenField&) -> Value { return std::nullopt; }},
        input.field);
}

}  // namespace ballast::graph
