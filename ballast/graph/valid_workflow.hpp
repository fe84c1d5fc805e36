#pragma once
// A workflow that passed validation: links are resolved, constants have their declared types, and
// there is no cycle.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ballast/graph/node_catalogue.hpp"
#include "ballast/graph/workflow.hpp"

namespace ballast::graph {

/// An output of another node of the same `ValidWorkflow`.
struct Link {
    std::size_t node = 0;    ///< index into `ValidWorkflow::nodes`
    std::size_t output = 0;  ///< index into the class's outputs

    bool operator==(const Link&) const = default;
};

struct ValidInput {
    std::string name;
    std::variant<Json, Link> value;
};

/// One node whose inputs, and everything upstream of it, are in order.
struct ValidNode {
    std::string id;
    const NodeDeclaration* declaration = nullptr;  ///< owned by `ValidWorkflow::catalogue`
    std::vector<ValidInput> inputs;                ///< declared ones only, in document order
    Json given_change_value;                       ///< the member `is_changed`; null if none

    [[nodiscard]] bool is_output() const { return declaration->role == Role::output; }
    /// The output that the input is linked to; null for constants and inputs left out.
    [[nodiscard]] const Link* link(std::string_view input) const;
    /// The constant that the node will see, a declared default included; nothing for links.
    [[nodiscard]] std::optional<Json> constant(std::string_view input) const;
};

/// All valid nodes of a workflow in document order, also those that no chosen output needs (their
/// cached results are worth keeping), and the outputs to run.
struct ValidWorkflow {
    NodeCatalogue catalogue{{}};
    Workflow source;  ///< as given
    std::vector<ValidNode> nodes;
    std::vector<std::size_t> outputs;  ///< indices into `nodes`, in document order

    /// `source` with constants as converted: what saved pictures carry.
    [[nodiscard]] Json document() const;
};

}  // namespace ballast::graph
