#pragma once
// The border between a workflow's control flow and the arithmetic of its nodes.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "ballast/engine/core/result.hpp"
#include "ballast/graph/value.hpp"

namespace ballast::graph {

/// One input as a node receives it: a constant after conversion, or a linked result.
using Input = std::variant<nlohmann::json, ValuePtr>;

/// Progress and facts that a node reports while it works. Called on the compute thread.
class NodeObserver {
public:
    NodeObserver() = default;
    NodeObserver(const NodeObserver&) = delete;
    NodeObserver& operator=(const NodeObserver&) = delete;
    virtual ~NodeObserver() = default;

    /// Step `value` of `max` is done.
    virtual void progress(std::int64_t value, std::int64_t max) = 0;
    virtual void warning(const std::string& text) = 0;
    /// True once the user wants the run to stop; nodes then return `Code::interrupted` soon.
    [[nodiscard]] virtual bool stop_requested() const = 0;
};

/// Everything one call of a node sees.
struct NodeCall {
    std::string node_id;
    std::string class_type;
    std::map<std::string, Input> inputs;
    /// Which outputs somebody in this workflow consumes; a loader reads only those parts.
    std::vector<bool> output_is_used;
    /// The prompt as validated, and extra PNG members (`workflow`...), for nodes that save files.
    const nlohmann::json* prompt = nullptr;
    const nlohmann::json* extra_pnginfo = nullptr;
};

struct NodeResult {
    std::vector<ValuePtr> outputs;  ///< one per declared output
    nlohmann::json ui;              ///< null, or e.g. {"images": [{filename, subfolder, type}]}
};

/// Runs nodes. Implemented by the runtime, and by doubles in tests.
class NodeRunner {
public:
    NodeRunner() = default;
    NodeRunner(const NodeRunner&) = delete;
    NodeRunner& operator=(const NodeRunner&) = delete;
    virtual ~NodeRunner() = default;

    virtual Result<NodeResult> run(const NodeCall& call, NodeObserver& observer) = 0;
};

}  // namespace ballast::graph
