#include "ballast/graph/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <variant>

#include "ballast/engine/residency/model_key.hpp"
#include "ballast/graph/required_models.hpp"

namespace ballast::graph {

namespace {

/// Writes values into a hash so that different ones never look alike: each has a letter for its
/// kind, and texts and lists their length in front.
class KeyWriter {
public:
    void text(std::string_view value) {
        hash_.update("t");
        hash_.update_number(value.size());
        hash_.update(value);
    }
    void number(std::uint64_t value) { hash_.update_number(value); }
    void digest(const Digest& value) {
        hash_.update("d");
        hash_.update(value);
    }
    void constant(const Json& value) {
        if (value.is_string())
            text(value.get_ref<const std::string&>());
        else if (value.is_object() || value.is_array())
            collection(value);
        else
            scalar(value);
    }
    [[nodiscard]] Digest finish() { return hash_.finish(); }

private:
    void scalar(const Json& value) {
        if (value.is_null()) {
            hash_.update("n");
        } else if (value.is_boolean()) {
            hash_.update(value.get<bool>() ? "T" : "F");
        } else if (value.is_number_float()) {
            hash_.update("f");
            hash_.update_number(std::bit_cast<std::uint64_t>(value.get<double>()));
        } else {
            const bool is_negative = !value.is_number_unsigned() && value.get<std::int64_t>() < 0;
            hash_.update(is_negative ? "-" : "+");
            hash_.update_number(value.get<std::uint64_t>());
        }
    }
    void collection(const Json& value) {
        hash_.update(value.is_object() ? "o" : "a");
        hash_.update_number(value.size());
        for (const auto& [name, element] : value.items()) {
            if (value.is_object()) text(name);
            constant(element);
        }
    }

    Sha256 hash_;
};

Constants constants_of(const ValidNode& node) {
    Constants constants = Json::object();
    for (const auto& input : node.inputs)
        if (const auto* constant = std::get_if<Json>(&input.value))
            append_member(constants, input.name, *constant);
    return constants;
}

bool asks_for_id(const NodeDeclaration& declaration) {
    return std::any_of(declaration.inputs.begin(), declaration.inputs.end(), [](const auto& input) {
        return input.is_hidden() && input.type() == "UNIQUE_ID";
    });
}

std::vector<const ValidInput*> sorted_by_name(const ValidNode& node) {
    std::vector<const ValidInput*> inputs;
    for (const auto& input : node.inputs) inputs.push_back(&input);
    std::sort(inputs.begin(), inputs.end(),
              [](const auto* a, const auto* b) { return a->name < b->name; });
    return inputs;
}

}  // namespace

std::vector<ChangeValue> change_values(const ValidWorkflow& workflow, const Folders& folders) {
    std::vector<ChangeValue> values;
    values.reserve(workflow.nodes.size());
    for (const auto& node : workflow.nodes) {
        const auto detect = node.declaration->change_detector;
        if (detect == nullptr) {
            values.emplace_back(Json());
        } else if (!node.given_change_value.is_null()) {
            values.emplace_back(node.given_change_value);
        } else if (const auto value = detect(constants_of(node), folders)) {
            values.emplace_back(Json(*value));
        } else {
            values.emplace_back(std::nullopt);
        }
    }
    return values;
}

std::vector<std::size_t> sources_first(const ValidWorkflow& workflow) {
    struct Frame {
        std::size_t node;
        std::size_t next_input = 0;
    };
    std::vector<std::size_t> order;
    std::vector<bool> is_seen(workflow.nodes.size());
    std::vector<Frame> stack;
    for (std::size_t root = 0; root < workflow.nodes.size(); ++root) {
        if (is_seen[root]) continue;
        is_seen[root] = true;
        stack.push_back({root});
        while (!stack.empty()) {
            Frame& frame = stack.back();
            const auto& inputs = workflow.nodes[frame.node].inputs;
            if (frame.next_input == inputs.size()) {
                order.push_back(frame.node);
                stack.pop_back();
                continue;
            }
            const auto* link = std::get_if<Link>(&inputs[frame.next_input++].value);
            if (link == nullptr || is_seen[link->node]) continue;
            is_seen[link->node] = true;
            stack.push_back({link->node});
        }
    }
    return order;
}

std::vector<std::string> file_versions(const ValidWorkflow& workflow, const Folders& folders) {
    std::vector<std::string> versions(workflow.nodes.size());
    for (const auto& file : required_models(workflow.source, workflow.catalogue)) {
        const auto node = std::ranges::find(workflow.nodes, file.node, &ValidNode::id);
        if (node == workflow.nodes.end()) continue;
        const auto path = folders.model_path(file.folder, file.name);
        if (!path) continue;
        const auto key = residency::model_key(*path, {});
        if (!key) continue;
        auto& version = versions[static_cast<std::size_t>(node - workflow.nodes.begin())];
        version += fmt::format("{} {} {} {} {} ", key->file.string(), key->size, key->modified,
                               key->changed, key->number);
    }
    return versions;
}

std::vector<std::optional<Digest>> signatures(const ValidWorkflow& workflow,
                                              const std::vector<ChangeValue>& changes,
                                              const std::vector<std::string>& versions) {
    std::vector<std::optional<Digest>> keys(workflow.nodes.size());
    for (const std::size_t index : sources_first(workflow)) {
        const auto& node = workflow.nodes[index];
        if (!changes[index]) continue;
        KeyWriter key;
        key.text(node.declaration->class_type);
        key.constant(*changes[index]);
        key.text(versions[index]);
        if (asks_for_id(*node.declaration)) key.text(node.id);
        bool is_known = true;
        for (const auto* input : sorted_by_name(node)) {
            key.text(input->name);
            if (const auto* link = std::get_if<Link>(&input->value)) {
                is_known = is_known && keys[link->node].has_value();
                key.digest(keys[link->node].value_or(Digest{}));
                key.number(link->output);
            } else {
                key.constant(std::get<Json>(input->value));
            }
        }
        if (is_known) keys[index] = key.finish();
    }
    return keys;
}

}  // namespace ballast::graph
