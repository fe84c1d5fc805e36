// Any bytes as a workflow: read, changed, validated and run with nodes that do nothing.
// Seeds: data/demo/workflow.json tests/golden/workflows/*.json

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "ballast/graph/execution.hpp"
#include "ballast/graph/required_models.hpp"
#include "ballast/graph/set_input.hpp"
#include "ballast/graph/validation.hpp"

namespace {

using namespace ballast;
using namespace ballast::graph;

class Nothing final : public Value {
public:
    [[nodiscard]] Bytes bytes() const override { return Bytes{1}; }
};

class IdleRunner final : public NodeRunner {
public:
    Result<NodeResult> run(const NodeCall& call, NodeObserver&) override {
        return NodeResult{.outputs = {call.output_is_used.size(), value_}, .ui = {}};
    }

private:
    ValuePtr value_ = std::make_shared<Nothing>();
};

/// Made once: it does not depend on the input.
const NodeCatalogue& catalogue() {
    static const NodeCatalogue all = standard_catalogue();
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // NOLINTNEXTLINE: the fuzzer hands over bytes, the reader wants characters
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Folders folders({});
    auto workflow = workflow_from_text(text, "fuzz");
    if (!workflow) return 0;
    static_cast<void>(required_models(*workflow, catalogue()));
    static_cast<void>(set_input(*workflow, text.substr(0, text.find('\n')), catalogue()));
    const auto [report, valid] = validate(*workflow, catalogue(), folders);
    static_cast<void>(report.to_json().dump(-1, ' ', true, Json::error_handler_t::replace));
    if (!report.is_clean()) static_cast<void>(to_error(report));
    if (valid.outputs.empty()) return 0;
    static_cast<void>(valid.document());
    IdleRunner runner;
    RunObserver nobody;
    Executor executor(runner, folders);
    for (int i = 0; i < 2; ++i)
        if (executor.run(valid, nobody).error) __builtin_trap();
    return 0;
}
