#pragma once
// The border between a workflow's control flow and the arithmetic of its nodes.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ballast/engine/core/result.hpp"
#include "ballast/graph/json.hpp"
#include "ballast/graph/value.hpp"

namespace ballast::device {
class Ledger;
}

namespace ballast::graph {

/// One input as a node receives it: a constant after conversion, or a linked result.
using Input = std::variant<Json, ValuePtr>;

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
///
/// `inputs` holds what the node's class declares: a required input is always there, an optional one
/// that the workflow leaves out has its declared default or is absent. Constants have the type of
/// the declaration (INT an integer, FLOAT a double, STRING and choices text, BOOLEAN a bool).
struct NodeCall {
    std::string node_id;
    std::string class_type;
    std::map<std::string, Input, std::less<>> inputs;
    /// Those of them that the workflow leaves to their defaults.
    std::set<std::string, std::less<>> defaults{};
    /// Which outputs somebody in this workflow consumes; a loader reads only those parts. Outputs
    /// that nobody uses may be returned as null.
    std::vector<bool> output_is_used;
    /// The prompt as validated, and extra PNG members (`workflow`...), in document order, for nodes
    /// that declare the hidden inputs PROMPT and EXTRA_PNGINFO; else null.
    const Json* prompt = nullptr;
    const Json* extra_pnginfo = nullptr;

    // Typed reading. An input that is absent or of another type is a fault of the implementation,
    // not of the user: std::logic_error, whose text names node and input.
    [[nodiscard]] bool has(std::string_view input) const { return inputs.contains(input); }
    [[nodiscard]] std::int64_t integer(std::string_view input) const;
    [[nodiscard]] std::uint64_t seed(std::string_view input) const;  ///< all 64 bits
    [[nodiscard]] double number(std::string_view input) const;
    [[nodiscard]] bool flag(std::string_view input) const;
    [[nodiscard]] const std::string& text(std::string_view input) const;
    [[nodiscard]] const ValuePtr& value(std::string_view input) const;
    /// The linked result as a `T`, the runtime's own type for it.
    template <typename T>
    [[nodiscard]] std::shared_ptr<const T> value_as(std::string_view input) const {
        if (auto typed = std::dynamic_pointer_cast<const T>(value(input))) return typed;
        wrong_type(input);
    }

private:
    [[nodiscard]] const Json& constant(std::string_view input) const;
    [[noreturn]] void wrong_type(std::string_view input) const;
};

struct NodeResult {
    std::vector<ValuePtr> outputs;  ///< one per declared output
    Json ui;                        ///< null, or e.g. {"images": [{filename, subfolder, type}]}
};

/// Runs nodes. Implemented by the runtime, and by doubles in tests.
class NodeRunner {
public:
    NodeRunner() = default;
    NodeRunner(const NodeRunner&) = delete;
    NodeRunner& operator=(const NodeRunner&) = delete;
    virtual ~NodeRunner() = default;

    virtual Result<NodeResult> run(const NodeCall& call, NodeObserver& observer) = 0;

    /// The account that results kept for later runs are charged to (`Tag::results`, on `cpu`). Null
    /// when nobody counts, or when the runner counts all memory of values itself.
    [[nodiscard]] virtual device::Ledger* ledger() { return nullptr; }
};

}  // namespace ballast::graph
