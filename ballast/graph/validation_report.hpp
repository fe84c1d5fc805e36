#pragma once
// What is wrong with a workflow, node by node, and how it is told: as JSON for clients, as one
// error for the command line.
//
// The kinds of fault, their `details` and `extra_info` are those that clients of ComfyUI know;
// messages are ours and say what was found and what is allowed.

#include <optional>
#include <string>
#include <vector>

#include "ballast/graph/json.hpp"

namespace ballast::graph {

/// One fault. The four members that clients see, and what the command line adds.
struct Fault {
    std::string type = {};  ///< "required_input_missing", ...: the stable part
    std::string message = {};
    std::string details = {};
    Json extra_info = Json::object();
    std::string input = {};  ///< the input at fault, if one is
    std::string hint = {};   ///< a remedy, if there is one

    /// The four members; the hint follows the message in parentheses.
    [[nodiscard]] Json to_json() const;
};

/// All own faults of one node.
struct NodeFaults {
    std::string node;
    std::string class_type;
    std::vector<Fault> faults;
    std::vector<std::string> dependent_outputs;  ///< output nodes that cannot run, as found
};

struct ValidationReport {
    std::optional<Fault> refusal;         ///< why nothing can run; empty if something can
    std::vector<NodeFaults> node_faults;  ///< also when only a part of the outputs is faulty
    std::vector<std::string> outputs;     ///< output nodes that will run, in document order

    /// Every output is valid.
    [[nodiscard]] bool is_clean() const { return !refusal && node_faults.empty(); }
    /// {"<id>": {"errors": [...], "dependent_outputs": [...], "class_type": "..."}}.
    [[nodiscard]] Json node_errors() const;
    /// {"error": ..., "node_errors": ...}: the body of a refusal.
    [[nodiscard]] Json to_json() const;
};

/// The whole report as one error (`bad_workflow`): the first fault gives place and `why`; up to 19
/// more follow in `why`, each behind "; ", then how many were left out. Call only if the report is
/// not clean.
Error to_error(const ValidationReport& report);

}  // namespace ballast::graph
