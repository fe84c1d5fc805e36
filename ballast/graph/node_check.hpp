#pragma once
// The check of one node by itself: its inputs, its constants, where its links point. Whether the
// linked nodes are in order is the business of validation, which walks them.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/graph/faults.hpp"
#include "ballast/graph/valid_workflow.hpp"

namespace ballast::graph {

/// A link that leads to an existing node (an index into `Workflow::nodes`), which is to be checked
/// in turn.
struct FollowedLink {
    const InputDeclaration* input = nullptr;
    Link target;
};

struct CheckedNode {
    std::vector<Fault> faults;
    std::vector<FollowedLink> links;
    std::vector<ValidInput> inputs;  ///< of inputs without faults, in document order
};

/// How validation came to a node: from the input of another one, or at once, as to an output.
struct Arrival {
    const NodeDeclaration* consumer = nullptr;
    const InputDeclaration* input = nullptr;
    std::size_t output = 0;

    [[nodiscard]] faults::Level level() const {
        return consumer == nullptr ? faults::Level::output : faults::Level::inner;
    }
};

/// Checks nodes of one workflow. Folders are listed once per kind of file.
class NodeChecker {
public:
    /// `declarations` has the class of each of the workflow's nodes.
    NodeChecker(const Workflow& workflow, const std::vector<const NodeDeclaration*>& declarations,
                const Folders& folders)
        : workflow_(workflow), declarations_(declarations), folders_(folders) {}

    CheckedNode check(std::size_t node, const Arrival& arrival);

private:
    struct Subject;
    void check_input(Subject& subject, const InputDeclaration& input, const Json& value);
    void check_link(Subject& subject, const faults::Input& input, const Json& value);
    void check_constant(Subject& subject, const faults::Input& input, const Json& value);
    std::optional<Fault> check_range(const faults::Input& input, const Json& value);
    void run_class_check(Subject& subject);
    const std::vector<std::string>& offered(const InputDeclaration& input);

    const Workflow& workflow_;
    const std::vector<const NodeDeclaration*>& declarations_;
    const Folders& folders_;
    std::map<const InputDeclaration*, std::vector<std::string>> offered_;
};

/// Whether an output of type `received` may feed an input of type `wanted`: equal, one of them "*",
/// or comma-separated lists with a common member.
bool types_are_compatible(std::string_view received, std::string_view wanted);

}  // namespace ballast::graph
