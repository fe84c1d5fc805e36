#include "ballast/graph/validation.hpp"

#include <unordered_set>
#include <variant>

#include "ballast/graph/workflow_walk.hpp"

namespace ballast::graph {

namespace {

/// Replies stay of reasonable size whatever was sent: a thousand faults below a thousand outputs
/// are not paired one by one.
constexpr std::size_t kMaxDependents = 100000;

/// The class of each node, or the first fault.
tl::expected<std::vector<const NodeDeclaration*>, Fault> classes_of(
    const Workflow& workflow, const NodeCatalogue& catalogue) {
    std::vector<const NodeDeclaration*> declarations;
    declarations.reserve(workflow.nodes().size());
    for (const auto& node : workflow.nodes()) {
        const std::string* class_type = node.class_type();
        if (class_type == nullptr) return tl::unexpected(faults::no_class_type(node.id));
        const auto* declaration = catalogue.find(*class_type);
        if (declaration == nullptr)
            return tl::unexpected(faults::unknown_class(node.id, *class_type, catalogue));
        declarations.push_back(declaration);
    }
    return declarations;
}

std::vector<std::size_t> outputs_of(const Workflow& workflow,
                                    const std::vector<const NodeDeclaration*>& declarations,
                                    const Targets& targets) {
    std::unordered_set<std::string> wanted;
    if (targets) wanted.insert(targets->begin(), targets->end());
    std::vector<std::size_t> outputs;
    for (std::size_t i = 0; i < declarations.size(); ++i)
        if (declarations[i]->role == Role::output &&
            (!targets || wanted.contains(workflow.nodes()[i].id)))
            outputs.push_back(i);
    return outputs;
}

/// Gathers the faults found so far and pairs them with a failing output.
class FaultList {
public:
    FaultList(const Workflow& workflow, WorkflowWalk& walk, ValidationReport& report)
        : workflow_(workflow), walk_(walk), report_(report) {}

    void output_failed(std::size_t output) {
        const auto& faulty = walk_.faulty();
        for (; known_ < faulty.size(); ++known_) {
            const auto& node = workflow_.nodes()[faulty[known_]];
            report_.node_faults.push_back({.node = node.id,
                                           .class_type = *node.class_type(),
                                           .faults = walk_.checked(faulty[known_]).faults,
                                           .dependent_outputs = {}});
        }
        for (auto& node : report_.node_faults) {
            if (++dependents_ > kMaxDependents) break;
            node.dependent_outputs.push_back(workflow_.nodes()[output].id);
        }
        for (const auto& fault : walk_.checked(output).faults)
            details_ += (details_.empty() ? "" : "\n") + fault.message + ": " + fault.details;
    }

    [[nodiscard]] const std::string& details() const { return details_; }

private:
    const Workflow& workflow_;
    WorkflowWalk& walk_;
    ValidationReport& report_;
    std::size_t known_ = 0;
    std::size_t dependents_ = 0;
    std::string details_;
};

/// The valid nodes in document order, with links by their new positions.
std::vector<ValidNode> valid_nodes(const Workflow& workflow,
                                   const std::vector<const NodeDeclaration*>& declarations,
                                   WorkflowWalk& walk, std::vector<std::size_t>& positions) {
    std::vector<ValidNode> nodes;
    for (std::size_t i = 0; i < declarations.size(); ++i) {
        positions.push_back(nodes.size());
        if (!walk.is_valid(i)) continue;
        const auto& source = workflow.nodes()[i];
        const Json* change = find_member(source.body, "is_changed");
        nodes.push_back({.id = source.id,
                         .declaration = declarations[i],
                         .inputs = std::move(walk.checked(i).inputs),
                         .given_change_value = change != nullptr ? *change : Json()});
    }
    for (auto& node : nodes)
        for (auto& input : node.inputs)
            if (auto* link = std::get_if<Link>(&input.value)) link->node = positions[link->node];
    return nodes;
}

}  // namespace

Validation validate(const Workflow& workflow, const NodeCatalogue& catalogue,
                    const Folders& folders, const Targets& targets) {
    Validation result;
    auto& report = result.report;
    const auto declarations = classes_of(workflow, catalogue);
    if (!declarations) {
        report.refusal = declarations.error();
        return result;
    }
    const auto outputs = outputs_of(workflow, *declarations, targets);
    if (outputs.empty()) {
        report.refusal = faults::no_outputs();
        return result;
    }
    WorkflowWalk walk(workflow, *declarations, folders);
    FaultList faults(workflow, walk, report);
    std::vector<std::size_t> good;
    for (const std::size_t output : outputs) {
        if (walk.visit(output))
            good.push_back(output);
        else
            faults.output_failed(output);
    }
    if (good.empty()) {
        report.refusal = faults::outputs_failed(faults.details());
        return result;
    }
    // Nodes that no output needs are not reported, but results of former runs may belong to them.
    for (std::size_t i = 0; i < declarations->size(); ++i) walk.visit(i);
    std::vector<std::size_t> positions;
    result.workflow.catalogue = catalogue;
    result.workflow.source = workflow;
    result.workflow.nodes = valid_nodes(workflow, *declarations, walk, positions);
    for (const std::size_t output : good) {
        report.outputs.push_back(workflow.nodes()[output].id);
        result.workflow.outputs.push_back(positions[output]);
    }
    return result;
}

}  // namespace ballast::graph
