#include "ballast/graph/validation_report.hpp"

#include <fmt/format.h>

#include <utility>

namespace ballast::graph {

Json Fault::to_json() const {
    const std::string advice = hint.empty() ? "" : " (" + hint + ")";
    return {{"type", type},
            {"message", message + advice},
            {"details", details},
            {"extra_info", extra_info}};
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
