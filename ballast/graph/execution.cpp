#include "ballast/graph/execution.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "ballast/graph/signature.hpp"
#include "ballast/graph/work_list.hpp"

namespace ballast::graph {

namespace {

/// A node's view of the observer of the whole run.
class NodeView final : public NodeObserver {
public:
    NodeView(const ValidNode& node, RunObserver& observer) : node_(node), observer_(observer) {}

    void progress(std::int64_t value, std::int64_t max) override {
        observer_.node_progress(node_, value, max);
    }
    void warning(const std::string& text) override { observer_.warning(node_, text); }
    [[nodiscard]] bool stop_requested() const override { return observer_.stop_requested(); }

private:
    const ValidNode& node_;
    RunObserver& observer_;
};

Error broken(std::string why) {
    return {.code = Code::internal, .what = "the node failed", .why = std::move(why)};
}

/// What the runner returns; a runner that throws has failed, too.
Result<NodeResult> run_guarded(NodeRunner& runner, const NodeCall& call, NodeObserver& observer) {
    try {
        return runner.run(call, observer);
    } catch (const std::bad_alloc&) {
        return fail({.code = Code::out_of_memory,
                     .what = "the node failed",
                     .why = "the system has no memory left"});
    } catch (const std::exception& e) {
        return fail(broken(e.what()));
    } catch (...) {
        return fail(broken("for an unknown reason"));
    }
}

/// Whether a result has all outputs that this workflow uses.
bool serves(const NodeResult& result, const std::vector<bool>& output_is_used) {
    for (std::size_t i = 0; i < output_is_used.size(); ++i)
        if (output_is_used[i] && (i >= result.outputs.size() || result.outputs[i] == nullptr))
            return false;
    return true;
}

bool is_short_of_memory(const Error& error) {
    return error.code == Code::does_not_fit || error.code == Code::out_of_memory;
}

/// The document as validated, with what change detectors found: what saved pictures carry.
Json document_with_changes(const ValidWorkflow& workflow, const std::vector<ChangeValue>& changes) {
    Json document = workflow.document();
    auto member = document.get_ref<Json::object_t&>().begin();
    for (std::size_t i = 0; i < workflow.nodes.size(); ++i, ++member) {
        const auto& node = workflow.nodes[i];
        while (member->first != node.id) ++member;  // both are in document order
        const bool has_value = node.declaration->change_detector != nullptr &&
                               node.given_change_value.is_null() && changes[i];
        if (has_value) member->second["is_changed"] = Json::array({*changes[i]});
    }
    return document;
}

/// One run of one workflow.
class Run {
public:
    Run(NodeRunner& runner, const Folders& folders, ResultCache& cache,
        const ValidWorkflow& workflow, RunObserver& observer)
        : runner_(runner),
          cache_(cache),
          workflow_(workflow),
          observer_(observer),
          changes_(change_values(workflow, folders)),
          keys_(signatures(workflow, changes_, file_versions(workflow, folders))),
          used_(used_outputs()),
          is_cached_(workflow.nodes.size()),
          values_(workflow.nodes.size()),
          users_left_(workflow.nodes.size()) {}

    RunResult run() {
        cache_.begin_run(keys_);
        const auto has_result = take_kept_results();
        WorkList list(workflow_, has_result);
        count_users(list, has_result);
        observer_.started(cached_ids());
        while (const auto node = list.next()) {
            if (has_result[*node] || take_twin(*node)) {
                show(*node, values_[*node]->ui);
            } else if (auto done = execute(*node); !done) {
                result_.error = placed(std::move(done).error(), *node);
                break;
            }
            list.finished(*node);
        }
        result_.cached = cached_ids();
        return std::move(result_);
    }

private:
    [[nodiscard]] std::vector<std::vector<bool>> used_outputs() const {
        std::vector<std::vector<bool>> used;
        for (const auto& node : workflow_.nodes)
            used.emplace_back(node.declaration->outputs.size());
        for (const auto& node : workflow_.nodes)
            for (const auto& input : node.inputs)
                if (const auto* link = std::get_if<Link>(&input.value))
                    used[link->node][link->output] = true;
        return used;
    }

    [[nodiscard]] const NodeResult* kept(std::size_t node) const {
        const NodeResult* found = keys_[node] ? cache_.find(*keys_[node]) : nullptr;
        return found != nullptr && serves(*found, used_[node]) ? found : nullptr;
    }

    /// Holds on to the kept results of this workflow, whatever becomes of the cache.
    std::vector<bool> take_kept_results() {
        for (std::size_t i = 0; i < workflow_.nodes.size(); ++i) {
            const NodeResult* found = kept(i);
            if (found == nullptr) continue;
            values_[i] = *found;
            is_cached_[i] = true;
        }
        return is_cached_;
    }

    /// A node like this one may have run a moment ago; then its result serves both.
    bool take_twin(std::size_t node) {
        const NodeResult* found = kept(node);
        if (found == nullptr) return false;
        is_cached_[node] = true;
        put(node, *found);
        return true;
    }

    [[nodiscard]] std::vector<std::string> cached_ids() const {
        std::vector<std::string> ids;
        for (std::size_t i = 0; i < is_cached_.size(); ++i)
            if (is_cached_[i]) ids.push_back(workflow_.nodes[i].id);
        return ids;
    }

    /// How many inputs of nodes that will run want each value; values that none wants go at once.
    void count_users(const WorkList& list, const std::vector<bool>& has_result) {
        for (const std::size_t node : list.members()) {
            if (has_result[node]) continue;
            for (const auto& input : workflow_.nodes[node].inputs)
                if (const auto* link = std::get_if<Link>(&input.value)) ++users_left_[link->node];
        }
        for (std::size_t i = 0; i < values_.size(); ++i)
            if (values_[i] && users_left_[i] == 0) values_[i]->outputs.clear();
    }

    Result<void> execute(std::size_t index) {
        const auto& node = workflow_.nodes[index];
        if (observer_.stop_requested())
            return fail({.code = Code::interrupted, .what = "the run was interrupted"});
        observer_.node_started(node);
        NodeView view(node, observer_);
        const NodeCall call = call_of(index);
        auto done = run_guarded(runner_, call, view);
        if (!done && is_short_of_memory(done.error()) && cache_.size() != 0) {
            observer_.warning(node, "memory is short: results kept from other nodes are let go");
            cache_.clear();
            done = run_guarded(runner_, call, view);
        }
        if (!done) return fail(std::move(done).error());
        if (const auto why = fault_of(*done, index); !why.empty()) return fail(broken(why));
        result_.executed.push_back(node.id);
        keep(index, *done);
        show(index, done->ui);
        put(index, *std::move(done));
        observer_.node_finished(node);
        return {};
    }

    NodeCall call_of(std::size_t index) {
        const auto& node = workflow_.nodes[index];
        NodeCall call{.node_id = node.id,
                      .class_type = node.declaration->class_type,
                      .inputs = {},
                      .defaults = {},
                      .output_is_used = used_[index]};
        for (const auto& input : node.inputs) {
            if (const auto* link = std::get_if<Link>(&input.value))
                call.inputs.emplace(input.name, values_[link->node]->outputs[link->output]);
            else
                call.inputs.emplace(input.name, std::get<Json>(input.value));
        }
        for (const auto& input : node.declaration->inputs) {
            if (input.is_hidden()) fill_hidden(call, input.type());
            if (call.has(input.name)) continue;
            auto value = default_value(input);
            if (!value) continue;
            call.inputs.emplace(input.name, *std::move(value));
            call.defaults.insert(input.name);
        }
        return call;
    }

    void fill_hidden(NodeCall& call, std::string_view type) {
        if (type == "PROMPT") {
            if (document_.is_null()) document_ = document_with_changes(workflow_, changes_);
            call.prompt = &document_;
        } else if (type == "EXTRA_PNGINFO") {
            call.extra_pnginfo = workflow_.source.extra_pnginfo();
        }
    }

    [[nodiscard]] std::string fault_of(const NodeResult& done, std::size_t index) const {
        const std::size_t declared = used_[index].size();
        if (done.outputs.size() != declared)
            return fmt::format("it returned {} outputs instead of {}", done.outputs.size(),
                               declared);
        return serves(done, used_[index]) ? std::string{} : "an output that is used is missing";
    }

    void keep(std::size_t index, const NodeResult& done) {
        if (!keys_[index]) return;
        if (const auto stored = cache_.store(*keys_[index], done); !stored)
            observer_.warning(workflow_.nodes[index], "the result is not kept for the next run: " +
                                                          to_string(stored.error()));
    }

    void show(std::size_t index, const Json& ui) {
        const auto& node = workflow_.nodes[index];
        if (ui.is_null() && !node.is_output()) return;
        observer_.node_output(node, ui);
        if (!ui.is_null()) result_.ui.emplace_back(node.id, ui);
    }

    /// Takes the result of a node that has run. Values live until their last user is done: this may
    /// have been that of its sources.
    void put(std::size_t index, NodeResult result) {
        values_[index] = std::move(result);
        if (users_left_[index] == 0) values_[index]->outputs.clear();
        for (const auto& input : workflow_.nodes[index].inputs) {
            const auto* link = std::get_if<Link>(&input.value);
            if (link != nullptr && --users_left_[link->node] == 0)
                values_[link->node]->outputs.clear();
        }
    }

    [[nodiscard]] Error placed(Error error, std::size_t index) const {
        error = at_node(std::move(error), workflow_.nodes[index].id);
        return error;
    }

    NodeRunner& runner_;
    ResultCache& cache_;
    const ValidWorkflow& workflow_;
    RunObserver& observer_;
    std::vector<ChangeValue> changes_;
    std::vector<std::optional<Digest>> keys_;
    std::vector<std::vector<bool>> used_;
    std::vector<bool> is_cached_;
    std::vector<std::optional<NodeResult>> values_;
    std::vector<std::size_t> users_left_;
    Json document_;  ///< made when the first node asks for it
    RunResult result_;
};

}  // namespace

struct Executor::State {
    NodeRunner& runner;
    const Folders& folders;
    ResultCache cache;
};

Executor::Executor(NodeRunner& runner, const Folders& folders, CachePolicy policy)
    : state_(
          std::make_unique<State>(State{runner, folders, ResultCache(policy, runner.ledger())})) {}

Executor::~Executor() = default;

RunResult Executor::run(const ValidWorkflow& workflow, RunObserver& observer) {
    return Run(state_->runner, state_->folders, state_->cache, workflow, observer).run();
}

void Executor::clear() { state_->cache.clear(); }

}  // namespace ballast::graph
