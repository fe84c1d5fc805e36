#pragma once
// The faults that validation can find in one node, each with the members that clients expect.
//
// `input_config` in `extra_info` is the input's declaration as a pair [type, options].

#include <span>
#include <string>
#include <vector>

#include "ballast/graph/folders.hpp"
#include "ballast/graph/node_catalogue.hpp"
#include "ballast/graph/validation_report.hpp"
#include "ballast/graph/workflow.hpp"

namespace ballast::graph::faults {

/// An input at fault: its declaration, that of its node, and what it offers now, if it is a choice.
struct Input {
    const NodeDeclaration& node;
    const InputDeclaration& declaration;
    const Folders& folders;

    [[nodiscard]] const std::string& name() const { return declaration.name; }
    [[nodiscard]] Json config() const;
};

// the whole workflow
Fault no_class_type(const std::string& node);
Fault unknown_class(const std::string& node, const std::string& class_type,
                    const NodeCatalogue& catalogue);
Fault no_outputs();
Fault outputs_failed(std::string details);

// constants
Fault missing(const NodeDeclaration& node, const InputDeclaration& input);
Fault not_convertible(const Input& input, const Json& value, const std::string& why);
Fault link_expected(const Input& input, const Json& value);
Fault below_min(const Input& input, const Json& value, const Json& bound);
Fault above_max(const Input& input, const Json& value, const Json& bound);
Fault not_offered(const Input& input, const Json& value, std::span<const std::string> options);
/// Offered, but not in this version.
Fault not_available(const Input& input, const Json& value);
Fault refused_by_class(const std::string& input, const ClassRefusal& refusal);

// links
Fault not_a_link(const Input& input, const Json& value);
Fault other_type(const Input& input, const Json& value, const std::string& received);

/// A cycle by its members, each of which needs the next one, the last the first. Of a long cycle
/// only the first ones and the last are there; `left_out` tells how many lie between.
struct Cycle {
    static constexpr std::size_t kShown = 16;
    std::vector<const WorkflowNode*> members;
    std::size_t left_out = 0;
};
Fault cycle(const std::string& node, const Cycle& cycle);

/// Whether the node with a bad link is itself the output node that is examined: clients know two
/// kinds of fault, with different members.
enum class Level { inner, output };

Fault no_such_node(const Input& input, const Json& value, Level level);
Fault no_such_output(const Input& input, const Json& value, const NodeDeclaration& source,
                     Level level);
/// A node without the member `inputs`; `via` is the link that led to it and the input that it is.
Fault no_inputs(const Input& via, const Json& link);
Fault no_inputs_at_output();

}  // namespace ballast::graph::faults
