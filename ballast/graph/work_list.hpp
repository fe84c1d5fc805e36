#pragma once
// Which nodes of a workflow have to run, and in what order.
//
// Sources come before consumers. Among nodes that are ready, those near an output go first, so that
// users see something early and intermediate results live briefly.

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ballast/graph/valid_workflow.hpp"

namespace ballast::graph {

class WorkList {
public:
    /// Everything that the outputs need, down to nodes whose result is there already. Outputs
    /// themselves are members even then; they wait for nothing.
    WorkList(const ValidWorkflow& workflow, const std::vector<bool>& has_result);

    /// All members, in the order in which they were found, going up from the outputs.
    [[nodiscard]] const std::vector<std::size_t>& members() const { return members_; }

    /// Takes the next node that is ready; nothing when none is left.
    std::optional<std::size_t> next();

    /// Tells that a node that `next` gave is done: its consumers need not wait for it any more.
    void finished(std::size_t node);

private:
    struct Member {
        bool is_in = false;
        std::size_t position = 0;                 ///< in `members_`
        std::size_t waits_for = 0;                ///< links to members that are not done
        std::vector<std::size_t> consumers = {};  ///< members that wait for this one
        int rank = 3;                             ///< smaller goes first
    };

    void add(const ValidWorkflow& workflow, std::size_t output,
             const std::vector<bool>& has_result);
    void rank(const ValidWorkflow& workflow);
    void make_ready(std::size_t node);

    std::vector<Member> nodes_;
    std::vector<std::size_t> members_;
    std::set<std::pair<int, std::size_t>> ready_;  ///< rank, position
};

}  // namespace ballast::graph
