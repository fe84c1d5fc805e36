#include "ballast/graph/workflow_walk.hpp"

#include <algorithm>

namespace ballast::graph {

namespace {

/// A cycle of 100,000 members is not reported 100,000 times.
constexpr std::size_t kMaxCycleFaults = 1000;

}  // namespace

WorkflowWalk::WorkflowWalk(const Workflow& workflow,
                           const std::vector<const NodeDeclaration*>& declarations,
                           const Folders& folders)
    : workflow_(workflow),
      declarations_(declarations),
      checker_(workflow, declarations, folders),
      states_(workflow.nodes().size(), State::unseen),
      checked_(workflow.nodes().size()),
      depths_(workflow.nodes().size()) {}

bool WorkflowWalk::visit(std::size_t node) {
    if (states_[node] == State::unseen) {
        enter(node, {});
        while (!stack_.empty()) step();
    }
    return states_[node] == State::valid;
}

void WorkflowWalk::enter(std::size_t node, const Arrival& arrival) {
    states_[node] = State::open;
    checked_[node] = checker_.check(node, arrival);
    depths_[node] = stack_.size();
    stack_.push_back({node});
}

void WorkflowWalk::step() {
    Frame& frame = stack_.back();
    const auto& links = checked_[frame.node].links;
    if (frame.next_link == links.size()) {
        leave();
        return;
    }
    const FollowedLink link = links[frame.next_link++];
    switch (states_[link.target.node]) {
        case State::unseen:
            enter(link.target.node, {declarations_[frame.node], link.input, link.target.output});
            break;
        case State::open: report_cycle(link.target.node); break;
        case State::invalid: frame.sources_are_valid = false; break;
        case State::valid: break;
    }
}

void WorkflowWalk::leave() {
    const Frame frame = stack_.back();
    stack_.pop_back();
    const bool has_faults = !checked_[frame.node].faults.empty();
    const bool is_valid = !has_faults && frame.sources_are_valid;
    states_[frame.node] = is_valid ? State::valid : State::invalid;
    if (has_faults) faulty_.push_back(frame.node);
    if (!stack_.empty() && !is_valid) stack_.back().sources_are_valid = false;
}

/// The top of the stack is linked to `first`, which is below it: everything from there up is a
/// cycle. The fault of the top makes the other members invalid, whether they are told or not.
void WorkflowWalk::report_cycle(std::size_t first) {
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

void WorkflowWalk::add_cycle_fault(const Frame& frame, const faults::Cycle& cycle) {
    auto& node = checked_[frame.node];
    const bool is_known =
        std::any_of(node.faults.begin(), node.faults.end(),
                    [](const Fault& fault) { return fault.type == "dependency_cycle"; });
    if (is_known) return;
    ++cycle_faults_;
    node.faults.push_back(faults::cycle(workflow_.nodes()[frame.node].id, cycle));
    node.faults.back().input = node.links[frame.next_link - 1].input->name;
}

}  // namespace ballast::graph
