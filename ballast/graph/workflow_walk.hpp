#pragma once
// The way of validation through a workflow: from outputs to sources.

#include <vector>

#include "ballast/graph/node_check.hpp"

namespace ballast::graph {

/// Checks nodes and everything that they depend on, each node once. Has a stack of its own, so that
/// depth costs memory, not stack.
class WorkflowWalk {
public:
    /// All arguments must outlive the walk. `declarations` has the class of each node.
    WorkflowWalk(const Workflow& workflow, const std::vector<const NodeDeclaration*>& declarations,
                 const Folders& folders);

    /// True if the node and everything upstream of it is valid.
    bool visit(std::size_t node);

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

    void enter(std::size_t node, const Arrival& arrival);
    void step();
    void leave();
    void report_cycle(std::size_t first);
    void add_cycle_fault(const Frame& frame, const faults::Cycle& cycle);

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

}  // namespace ballast::graph
