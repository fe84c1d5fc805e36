#include "ballast/graph/work_list.hpp"

#include <algorithm>
#include <variant>

namespace ballast::graph {

WorkList::WorkList(const ValidWorkflow& workflow, const std::vector<bool>& has_result)
    : nodes_(workflow.nodes.size()) {
    for (const std::size_t output : workflow.outputs) add(workflow, output, has_result);
    rank(workflow);
    for (const std::size_t node : members_)
        if (nodes_[node].waits_for == 0) make_ready(node);
}

std::optional<std::size_t> WorkList::next() {
    if (ready_.empty()) return std::nullopt;
    const auto first = ready_.begin();
    const std::size_t node = members_[first->second];
    ready_.erase(first);
    return node;
}

void WorkList::finished(std::size_t node) {
    for (const std::size_t consumer : nodes_[node].consumers)
        if (--nodes_[consumer].waits_for == 0) make_ready(consumer);
}

/// The last input's source is looked at first: clients of the original know the order that follows.
void WorkList::add(const ValidWorkflow& workflow, std::size_t output,
                   const std::vector<bool>& has_result) {
    std::vector<std::size_t> open{output};
    while (!open.empty()) {
        const std::size_t node = open.back();
        open.pop_back();
        if (nodes_[node].is_in) continue;
        nodes_[node].is_in = true;
        nodes_[node].position = members_.size();
        members_.push_back(node);
        if (has_result[node]) continue;
        for (const auto& input : workflow.nodes[node].inputs) {
            const auto* link = std::get_if<Link>(&input.value);
            if (link == nullptr || has_result[link->node]) continue;
            open.push_back(link->node);
            nodes_[link->node].consumers.push_back(node);
            ++nodes_[node].waits_for;
        }
    }
}

/// 0: an output; 1: feeds one; 2: feeds a node that does; 3: all others.
void WorkList::rank(const ValidWorkflow& workflow) {
    const auto feeds = [this](std::size_t node, int rank) {
        const auto& consumers = nodes_[node].consumers;
        return std::any_of(consumers.begin(), consumers.end(),
                           [&](std::size_t consumer) { return nodes_[consumer].rank == rank; });
    };
    for (const std::size_t node : members_)
        if (workflow.nodes[node].is_output()) nodes_[node].rank = 0;
    for (const std::size_t node : members_)
        if (nodes_[node].rank > 1 && feeds(node, 0)) nodes_[node].rank = 1;
    for (const std::size_t node : members_)
        if (nodes_[node].rank > 2 && feeds(node, 1)) nodes_[node].rank = 2;
}

void WorkList::make_ready(std::size_t node) {
    ready_.emplace(nodes_[node].rank, nodes_[node].position);
}

}  // namespace ballast::graph
