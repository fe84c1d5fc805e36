#pragma once
// Doubles for the execution of workflows: nodes that only record that they ran.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ballast/graph/execution.hpp"
#include "tests/graph/support.hpp"

namespace ballast::graph::testing {

/// A result that knows how it came about. Counts how many of its kind are alive.
class Trace final : public Value {
public:
    Trace(std::string text, Bytes bytes, std::shared_ptr<int> alive)
        : text_(std::move(text)), bytes_(bytes), alive_(std::move(alive)) {
        ++*alive_;
    }
    ~Trace() override { --*alive_; }
    [[nodiscard]] Bytes bytes() const override { return bytes_; }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
    Bytes bytes_;
    std::shared_ptr<int> alive_;
};

/// Runs any class: each output is a `Trace` of class, constants and inputs.
class TraceRunner final : public NodeRunner {
public:
    Result<NodeResult> run(const NodeCall& call, NodeObserver& observer) override {
        calls.push_back(call.node_id);
        last_call = call;
        most_alive = std::max(most_alive, *alive);
        if (const auto special = behaviour.find(call.node_id); special != behaviour.end()) {
            auto result = special->second(call, observer);
            if (!result || !result->outputs.empty() || !result->ui.is_null()) return result;
        }
        std::string text = call.class_type + "(";
        for (const auto& [name, input] : call.inputs) {
            const auto* constant = std::get_if<Json>(&input);
            text += name + "=" +
                    (constant != nullptr ? constant->dump() : call.value_as<Trace>(name)->text());
            text += ",";
        }
        text += ")";
        NodeResult result;
        for (std::size_t i = 0; i < call.output_is_used.size(); ++i)
            result.outputs.push_back(
                call.output_is_used[i]
                    ? std::make_shared<Trace>(text + std::to_string(i), value_bytes, alive)
                    : nullptr);
        if (call.class_type == "Show") result.ui = {{"seen", Json::array({text})}};
        return result;
    }
    device::Ledger* ledger() override { return account; }

    /// The text of a value.
    std::shared_ptr<int> alive = std::make_shared<int>(0);
    int most_alive = 0;  ///< values alive when a node began
    std::vector<std::string> calls;
    NodeCall last_call;
    Bytes value_bytes{100};
    device::Ledger* account = nullptr;
    /// What single nodes do instead; an empty result means the usual.
    std::map<std::string, std::function<Result<NodeResult>(const NodeCall&, NodeObserver&)>>
        behaviour;
};

/// Source(n) -> X; Pair(a, b, n) -> X, X; Show(a), an output node.
inline NodeCatalogue trace_catalogue() {
    const InputDeclaration number{.name = "n", .field = IntegerField{.max = 1000000}};
    return NodeCatalogue{
        {{.class_type = "Source",
          .category = "test",
          .inputs = {number},
          .outputs = {{.type = "X"}, {.type = "X"}}},
         {.class_type = "Pair",
          .category = "test",
          .inputs = {optional(link("a", "X")), optional(link("b", "X")), optional(number)},
          .outputs = {{.type = "X"}, {.type = "X"}}},
         {.class_type = "Show",
          .category = "test",
          .role = Role::output,
          .inputs = {link("a", "X"), hidden("prompt", "PROMPT"),
                     hidden("extra_pnginfo", "EXTRA_PNGINFO")}},
         {.class_type = "Named",
          .category = "test",
          .inputs = {hidden("id", "UNIQUE_ID")},
          .outputs = {{.type = "X"}}}}};
}

/// Everything that an observer hears, one text per call.
class Listener final : public RunObserver {
public:
    void started(const std::vector<std::string>& cached) override {
        std::string text = "cached";
        for (const auto& id : cached) text += " " + id;
        heard.push_back(text);
    }
    void node_started(const ValidNode& node) override { heard.push_back("start " + node.id); }
    void node_progress(const ValidNode& node, std::int64_t value, std::int64_t max) override {
        heard.push_back("progress " + node.id + " " + std::to_string(value) + "/" +
                        std::to_string(max));
    }
    void node_output(const ValidNode& node, const Json& ui) override {
        heard.push_back("output " + node.id + (ui.is_null() ? " null" : ""));
    }
    void node_finished(const ValidNode& node) override { heard.push_back("finish " + node.id); }
    void warning(const ValidNode& node, const std::string& text) override {
        warnings.push_back(node.id + ": " + text);
    }
    [[nodiscard]] bool stop_requested() const override { return stop; }

    std::vector<std::string> heard;
    std::vector<std::string> warnings;
    bool stop = false;
};

/// A workflow that must be valid.
inline ValidWorkflow valid(const Workflow& workflow, const NodeCatalogue& catalogue,
                           const Folders& folders) {
    auto [report, result] = validate(workflow, catalogue, folders);
    if (!report.is_clean()) throw std::invalid_argument(to_string(to_error(report)));
    return std::move(result);
}

inline ValidWorkflow trace_workflow(std::string_view text) {
    return valid(workflow_of(text), trace_catalogue(), Folders({}));
}

}  // namespace ballast::graph::testing
