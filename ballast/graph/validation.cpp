#include "ballast/graph/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ballast/graph/node_check.hpp"

namespace ballast::graph {

namespace {

/// Replies stay of reasonable size whatever was sent: a cycle of 100,000 members is not reported
/// 100,000 times, and a thousand faults below a thousand outputs are not paired one by one.
constexpr std::size_t kMaxCycleFaults = 1000;
constexpr std::size_t kMaxDependents = 100000;

/// Walks from outputs to sources with a stack of its own, so that depth costs memory, not stack.
class Walk {
public:
    Walk(const Workflow& workflow, const std::vector<const NodeDeclaration*>& declarations,
         const Folders& folders)
        : workflow_(workflow),
          declarations_(declarations),
          checker_(workflow, declarations, folders),
          states_(workflow.nodes().size(), State::unseen),
          checked_(workflow.nodes().size()),
          depths_(workflow.nodes().size()) {}

    /// True if the node and everything upstream of it is valid.
    bool visit(std::size_t node) {
        if (states_[node] == State::unseen) {
            enter(node, {});
            while (!stack_.empty()) step();
        }
        return states_[node] == State::valid;
    }

    [[nodiscard]] bool is_valid(std::size_t node) const { return states_[node] == State::valid; }
    [[nodiscard]] CheckedNode& checked(std::size_t node) { return checked_[node]; }
    /// Nodes with faults of their own, in the order in which their check ended.
    [[nodiscard]] const std::vector<std::size_t>& faulty() const { return faulty_; }

private:
    enum class State { unseen, open, valid, invalid };

    struct Frame {
        std::size_t node;
        std::size_t next_link = 0;
        bool sources_are_valid = true;
    };

    void enter(std::size_t node, const Arrival& arrival) {
        states_[node] = State::open;
        checked_[node] = checker_.check(node, arrival);
        depths_[node] = stack_.size();
        stack_.push_back({node});
    }

    void step() {
        Frame& frame = stack_.back();
        const auto& links = checked_[frame.node].links;
        if (frame.next_link == links.size()) {
            leave();
            return;
        }
        const FollowedLink link = links[frame.next_link++];
        switch (states_[link.target.node]) {
            case State::unseen:
                enter(link.target.node,
                      {declarations_[frame.node], link.input, link.target.output});
                break;
            case State::open:
                report_cycle(link.target.node);
                break;
            case State::invalid:
                frame.sources_are_valid = false;
                break;
            case State::valid:
                break;
        }
    }

    void leave() {
        const Frame frame = stack_.back();
        stack_.pop_back();
        const bool has_faults = !checked_[frame.node].faults.empty();
        const bool is_valid = !has_faults && frame.sources_are_valid;
        states_[frame.node] = is_valid ? State::valid : State::invalid;
        if (has_faults) faulty_.push_back(frame.node);
        if (!stack_.empty() && !is_valid) stack_.back().sources_are_valid = false;
    }

    /// The top of the stack is linked to `first`, which is below it: everything from there up is a
    /// cycle.
    void report_cycle(std::size_t first) {
        const std::size_t begin = depths_[first];
        const std::size_t last = stack_.size() - 1;
        const auto node_at = [&](std::size_t i) { return &workflow_.nodes()[stack_[i].node]; };
        faults::Cycle cycle;
        for (std::size_t i = begin; i < last && i < begin + faults::Cycle::kShown; ++i)
            cycle.members.push_back(node_at(i));
        cycle.left_out = last - begin - cycle.members.size();
        cycle.members.push_back(node_at(last));
        for (std::size_t i = begin; i < last && cycle_faults_ < kMaxCycleFaults; ++i)
            add_cycle_fault(stack_[i], cycle);
        add_cycle_fault(stack_[last], cycle);
    }

    void add_cycle_fault(const Frame& frame, const faults::Cycle& cycle) {
        auto& node = checked_[frame.node];
        const bool is_known =
            std::any_of(node.faults.begin(), node.faults.end(),
                        [](const Fault& fault) { return fault.type == "dependency_cycle"; });
        if (is_known) return;
        ++cycle_faults_;
        node.faults.push_back(faults::cycle(workflow_.nodes()[frame.node].id, cycle));
        node.faults.back().input = node.links[frame.next_link - 1].input->name;
    }

    const Workflow& workflow_;
    const std::vector<const NodeDeclaration*>& declarations_;
    NodeChecker checker_;
    std::vector<State> states_;
    std::vector<CheckedNode> checked_;
    std::vector<Frame> stack_;
    std::vector<std::size_t> depths_;  ///< of open nodes: their positions in the stack
    std::vector<std::size_t> faulty_;
    std::size_t cycle_faults_ = 0;
};

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
    FaultList(const Workflow& workflow, Walk& walk, ValidationReport& report)
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
    Walk& walk_;
    ValidationReport& report_;
    std::size_t known_ = 0;
    std::size_t dependents_ = 0;
    std::string details_;
};

/// The valid nodes in document order, with links by their new positions.
std::vector<ValidNode> valid_nodes(const Workflow& workflow,
                                   const std::vector<const NodeDeclaration*>& declarations,
                                   Walk& walk, std::vector<std::size_t>& positions) {
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

Json Fault::to_json() const {
    return {{"type", type}, {"message", message}, {"details", details}, {"extra_info", extra_info}};
}

Json ValidationReport::node_errors() const {
    Json nodes = Json::object();
    for (const auto& node : node_faults) {
        Json errors = Json::array();
        for (const auto& fault : node.faults) errors.push_back(fault.to_json());
        append_member(nodes, node.node,
                      {{"errors", std::move(errors)},
                       {"dependent_outputs", node.dependent_outputs},
                       {"class_type", node.class_type}});
    }
    return nodes;
}

Json ValidationReport::to_json() const {
    return {{"error", refusal ? refusal->to_json() : Json()}, {"node_errors", node_errors()}};
}

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
    Walk walk(workflow, *declarations, folders);
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

namespace {

constexpr std::size_t kListedFaults = 20;

std::string sentence(const Fault& fault) {
    return fault.details.empty() ? fault.message : fault.message + ": " + fault.details;
}

std::string place_of(const NodeFaults& node, const Fault& fault) {
    const std::string place = fmt::format("node {} ({})", node.node, node.class_type);
    return fault.input.empty() ? place : place + ", input " + fault.input;
}

}  // namespace

Error to_error(const ValidationReport& report) {
    Error error{.code = Code::bad_workflow,
                .what = report.outputs.empty() ? "cannot run the workflow"
                                               : "cannot run a part of the workflow"};
    const Fault* first = report.refusal ? &*report.refusal : nullptr;
    std::size_t count = 0;
    for (const auto& node : report.node_faults) {
        for (const auto& fault : node.faults) {
            if (++count == 1) {
                first = &fault;
                error.place = {.node = node.node, .key = fault.input};
                error.why = sentence(fault);
            } else if (count <= kListedFaults) {
                error.why += "; " + place_of(node, fault) + ": " + sentence(fault);
            }
            if (error.hint.empty()) error.hint = fault.hint;
        }
    }
    if (count > kListedFaults)
        error.why += fmt::format("; and {} more faults", count - kListedFaults);
    if (count == 0 && first != nullptr) {
        error.why = sentence(*first);
        error.hint = first->hint;
    }
    return error;
}

}  // namespace ballast::graph
