#pragma once
// Running a valid workflow: which nodes, in what order, with whose results; what is kept for the
// next run.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ballast/graph/folders.hpp"
#include "ballast/graph/node_runner.hpp"
#include "ballast/graph/result_cache.hpp"
#include "ballast/graph/valid_workflow.hpp"

namespace ballast::graph {

/// Follows a run. All calls come from the thread that called `Executor::run`.
class RunObserver {
public:
    RunObserver() = default;
    RunObserver(const RunObserver&) = delete;
    RunObserver& operator=(const RunObserver&) = delete;
    virtual ~RunObserver() = default;

    /// The run begins; these nodes need not run, in document order.
    virtual void started(const std::vector<std::string>& cached) { (void)cached; }
    virtual void node_started(const ValidNode& node) { (void)node; }
    virtual void node_progress(const ValidNode& node, std::int64_t value, std::int64_t max) {
        (void)node, (void)value, (void)max;
    }
    /// An output node has something to show: fresh, or kept from a former run.
    virtual void node_output(const ValidNode& node, const Json& ui) { (void)node, (void)ui; }
    virtual void node_finished(const ValidNode& node) { (void)node; }
    virtual void warning(const ValidNode& node, const std::string& text) { (void)node, (void)text; }

    /// Asked before each node and by nodes at work. May be answered from any state.
    [[nodiscard]] virtual bool stop_requested() const { return false; }
};

struct RunResult {
    std::vector<std::string> executed;  ///< in the order of execution
    std::vector<std::string> cached;    ///< nodes with a kept result, in document order
    /// What output nodes show, in the order of execution; cached ones as before.
    std::vector<std::pair<std::string, Json>> ui;
    /// Why the run ended early; `interrupted` if the user wanted it to. Names the node.
    std::optional<Error> error;
};

/// Runs workflows one after another and keeps results in between. One thread at a time.
class Executor {
public:
    /// `runner`, its ledger and `folders` (for change detectors) must outlive the executor.
    Executor(NodeRunner& runner, const Folders& folders, CachePolicy policy = {});
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;
    ~Executor();

    /// Runs the outputs of `workflow`. Results computed before a failure stay cached. A node for
    /// which memory is short is tried once more after all kept results have been let go.
    RunResult run(const ValidWorkflow& workflow, RunObserver& observer);

    /// Forgets all kept results and gives their memory back.
    void clear();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ballast::graph
