#include "ballast/graph/execution.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/graph/execution_support.hpp"

namespace ballast::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Listener;
using testing::Trace;
using testing::trace_workflow;
using testing::TraceRunner;

/// Source 1 -> Pair 2 -> Show 3, with a second constant at the pair.
ValidWorkflow line(int source = 1, int pair = 5) {
    return trace_workflow(fmt::format(R"({{
        "1":{{"class_type":"Source","inputs":{{"n":{}}}}},
        "2":{{"class_type":"Pair","inputs":{{"a":["1",1],"n":{}}}}},
        "3":{{"class_type":"Show","inputs":{{"a":["2",0]}}}}}})",
                                      source, pair));
}

class ExecutorTest : public ::testing::Test {
protected:
    RunResult run(const ValidWorkflow& workflow) { return executor_.run(workflow, listener_); }
    [[nodiscard]] Bytes charged() const {
        const auto snapshot = ledger_.snapshot();
        const auto cpu = snapshot.find(kCpu);
        return cpu == snapshot.end() ? Bytes{} : cpu->second.tag(device::Tag::results).now;
    }

    Folders folders_{{}};
    device::Ledger ledger_;
    TraceRunner runner_;
    Listener listener_;
    Executor executor_{runner_, folders_};
};

TEST_F(ExecutorTest, PassesResultsAlongLinks) {
    const auto result = run(line());
    EXPECT_FALSE(result.error);
    EXPECT_THAT(result.executed, ElementsAre("1", "2", "3"));
    EXPECT_THAT(result.cached, IsEmpty());
    ASSERT_EQ(result.ui.size(), 1U);
    EXPECT_EQ(result.ui[0].first, "3");
    EXPECT_EQ(result.ui[0].second,
              Json({{"seen", Json::array({"Show(a=Pair(a=Source(n=1,)1,n=5,)0,)"})}}));
}

TEST_F(ExecutorTest, TellsItsObserverWhatHappens) {
    runner_.behaviour["2"] = [](const NodeCall&, NodeObserver& observer) -> Result<NodeResult> {
        observer.progress(1, 2);
        observer.progress(2, 2);
        observer.warning("look out");
        return {};
    };
    run(line());
    EXPECT_THAT(listener_.heard,
                ElementsAre("cached", "start 1", "finish 1", "start 2", "progress 2 1/2",
                            "progress 2 2/2", "finish 2", "start 3", "output 3", "finish 3"));
    EXPECT_THAT(listener_.warnings, ElementsAre("2: look out"));
}

TEST_F(ExecutorTest, RunsNothingTheSecondTimeAndShowsTheSame) {
    const auto first = run(line());
    listener_.heard.clear();
    const auto second = run(line());
    EXPECT_THAT(second.executed, IsEmpty());
    EXPECT_THAT(second.cached, ElementsAre("1", "2", "3"));
    EXPECT_EQ(second.ui, first.ui);
    EXPECT_THAT(listener_.heard, ElementsAre("cached 1 2 3", "output 3"));
}

TEST_F(ExecutorTest, RunsOnlyWhatChanged) {
    run(line(1, 5));
    const auto changed = run(line(1, 6));
    EXPECT_THAT(changed.executed, ElementsAre("2", "3"));
    EXPECT_THAT(changed.cached, ElementsAre("1"));
}

TEST_F(ExecutorTest, FindsResultsUnderOtherNodeIds) {
    run(line());
    const auto renamed = run(trace_workflow(R"({
        "11":{"class_type":"Source","inputs":{"n":1}},
        "12":{"class_type":"Pair","inputs":{"a":["11",1],"n":5}},
        "13":{"class_type":"Show","inputs":{"a":["12",0]}}})"));
    EXPECT_THAT(renamed.executed, IsEmpty());
    EXPECT_THAT(renamed.cached, ElementsAre("11", "12", "13"));
}

TEST_F(ExecutorTest, RunsTwinsOnce) {
    const auto result = run(trace_workflow(R"({
        "1":{"class_type":"Source","inputs":{"n":1}},
        "2":{"class_type":"Source","inputs":{"n":1}},
        "3":{"class_type":"Pair","inputs":{"a":["1",0],"b":["2",0]}},
        "4":{"class_type":"Show","inputs":{"a":["3",0]}}})"));
    EXPECT_THAT(runner_.calls, ElementsAre("2", "3", "4"));
    EXPECT_THAT(result.cached, ElementsAre("1"));
    const std::string twice = "Show(a=Pair(a=Source(n=1,)0,b=Source(n=1,)0,n=0,)0,)";
    EXPECT_EQ(result.ui[0].second, Json({{"seen", Json::array({twice})}}));
}

TEST_F(ExecutorTest, KeepsResultsOfNodesThatNoOutputNeedsNow) {
    run(line());
    // the pair is still in the workflow, but nothing shows it
    run(trace_workflow(R"({
        "1":{"class_type":"Source","inputs":{"n":1}},
        "2":{"class_type":"Pair","inputs":{"a":["1",1],"n":5}},
        "4":{"class_type":"Show","inputs":{"a":["1",1]}}})"));
    EXPECT_THAT(run(line()).executed, ElementsAre("3"));
}

TEST_F(ExecutorTest, ForgetsResultsThatTheNextWorkflowLacks) {
    run(line());
    run(line(2));
    EXPECT_THAT(run(line()).executed, ElementsAre("1", "2", "3"));
}

TEST_F(ExecutorTest, WithoutACacheRunsEverythingAndReleasesEverything) {
    Executor executor(runner_, folders_, {.kind = CachePolicy::Kind::none});
    executor.run(line(), listener_);
    runner_.last_call = {};  // the double's own hold on an input
    EXPECT_EQ(*runner_.alive, 0);
    EXPECT_THAT(executor.run(line(), listener_).executed, ElementsAre("1", "2", "3"));
}

TEST_F(ExecutorTest, ReleasesValuesAsSoonAsNobodyNeedsThem) {
    // a chain of ten: without a cache at most the two ends of one link are alive
    Json document = {{"0", {{"class_type", "Source"}, {"inputs", {{"n", 1}}}}}};
    for (int i = 1; i < 10; ++i)
        document[std::to_string(i)] = {
            {"class_type", "Pair"},
            {"inputs", {{"a", Json::array({std::to_string(i - 1), 0})}, {"n", i}}}};
    document["show"] = {{"class_type", "Show"}, {"inputs", {{"a", Json::array({"9", 0})}}}};
    const auto workflow =
        testing::valid(*workflow_from_json(document), testing::trace_catalogue(), folders_);
    runner_.last_call = {};
    Executor none(runner_, folders_, {.kind = CachePolicy::Kind::none});
    none.run(workflow, listener_);
    EXPECT_LE(runner_.most_alive, 2);  // one as input, one in the double's copy of the last call
    EXPECT_EQ(runner_.calls.size(), 11U);
    runner_.last_call = {};
    run(workflow);
    EXPECT_EQ(*runner_.alive, 10);
    runner_.last_call = {};
    executor_.clear();
    EXPECT_EQ(*runner_.alive, 0);
}

TEST_F(ExecutorTest, TellsNodesWhichOutputsAreUsed) {
    run(line());
    EXPECT_EQ(runner_.last_call.node_id, "3");
    runner_.behaviour["1"] = [](const NodeCall& call, NodeObserver&) -> Result<NodeResult> {
        EXPECT_EQ(call.output_is_used, (std::vector<bool>{false, true}));
        return {};
    };
    executor_.clear();
    EXPECT_FALSE(run(line()).error);
}

TEST_F(ExecutorTest, RunsALoaderAgainWhenMoreOfItsOutputsAreUsed) {
    run(line());
    const auto wider = run(trace_workflow(R"({
        "1":{"class_type":"Source","inputs":{"n":1}},
        "2":{"class_type":"Pair","inputs":{"a":["1",1],"n":5}},
        "3":{"class_type":"Show","inputs":{"a":["2",0]}},
        "4":{"class_type":"Show","inputs":{"a":["1",0]}}})"));
    EXPECT_THAT(wider.executed, ElementsAre("1", "4"));
    EXPECT_THAT(wider.cached, ElementsAre("2", "3"));
    EXPECT_THAT(run(line()).executed, IsEmpty());
}

TEST_F(ExecutorTest, FillsHiddenAndOptionalInputs) {
    const auto workflow = testing::valid(testing::workflow_of(R"({"prompt":{
            "1":{"class_type":"Source","inputs":{"n":"1"},"_meta":{"title":"T"}},
            "3":{"class_type":"Show","inputs":{"a":["1",0]}}},
            "extra_data":{"extra_pnginfo":{"workflow":{"id":"w"}}}})"),
                                         testing::trace_catalogue(), folders_);
    runner_.behaviour["3"] = [](const NodeCall& call, NodeObserver&) -> Result<NodeResult> {
        EXPECT_EQ(call.prompt->dump(),
                  R"({"1":{"class_type":"Source","inputs":{"n":1},"_meta":{"title":"T"}},)"
                  R"("3":{"class_type":"Show","inputs":{"a":["1",0]}}})");
        EXPECT_EQ(call.extra_pnginfo->dump(), R"({"workflow":{"id":"w"}})");
        EXPECT_EQ(call.inputs.size(), 1U);
        return {};
    };
    runner_.behaviour["1"] = [](const NodeCall& call, NodeObserver&) -> Result<NodeResult> {
        EXPECT_EQ(call.prompt, nullptr);
        return {};
    };
    EXPECT_FALSE(run(workflow).error);
    run(trace_workflow(R"({"1":{"class_type":"Pair","inputs":{}},
                           "2":{"class_type":"Show","inputs":{"a":["1",0]}}})"));
    EXPECT_EQ(runner_.calls.back(), "2");
}

TEST_F(ExecutorTest, GivesOptionalInputsTheirDefault) {
    runner_.behaviour["1"] = [](const NodeCall& call, NodeObserver&) -> Result<NodeResult> {
        EXPECT_EQ(call.integer("n"), 0);
        EXPECT_FALSE(call.has("a"));
        return {};
    };
    EXPECT_FALSE(run(trace_workflow(R"({"1":{"class_type":"Pair","inputs":{}},
                                        "2":{"class_type":"Show","inputs":{"a":["1",0]}}})"))
                     .error);
}

TEST_F(ExecutorTest, WritesChangeValuesIntoThePrompt) {
    const testing::RecordedFolders recorded;
    runner_.behaviour["2"] = [](const NodeCall& call, NodeObserver&) -> Result<NodeResult> {
        EXPECT_EQ((*call.prompt)["1"]["is_changed"], Json::array({to_string(sha256(""))}));
        EXPECT_FALSE((*call.prompt)["2"].contains("is_changed"));
        return NodeResult{.outputs = {}, .ui = {{"images", Json::array()}}};
    };
    Executor executor(runner_, recorded.folders());
    const auto workflow = testing::valid(
        testing::workflow_of(R"({"1":{"class_type":"LoadImage","inputs":{"image":"rgb.png"}},
                                 "2":{"class_type":"PreviewImage","inputs":{"images":["1",0]}}})"),
        standard_catalogue(), recorded.folders());
    EXPECT_FALSE(executor.run(workflow, listener_).error);
    EXPECT_THAT(executor.run(workflow, listener_).executed, IsEmpty());
    recorded.root().write("input/rgb.png", "x");
    runner_.behaviour.clear();
    EXPECT_THAT(executor.run(workflow, listener_).executed, ElementsAre("1", "2"));
}

TEST_F(ExecutorTest, EndsAtTheFirstFailureAndNamesTheNode) {
    runner_.behaviour["2"] = [](const NodeCall&, NodeObserver&) -> Result<NodeResult> {
        return fail({.code = Code::corrupt_file, .what = "cannot read it", .place = {.file = "x"}});
    };
    const auto result = run(line());
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->code, Code::corrupt_file);
    EXPECT_EQ(to_string(*result.error), "cannot read it: x, node 2");
    EXPECT_THAT(result.executed, ElementsAre("1"));
    EXPECT_EQ(listener_.heard.back(), "start 2");
    runner_.behaviour.clear();
    EXPECT_THAT(run(line()).executed, ElementsAre("2", "3"));  // what was done stays
}

TEST_F(ExecutorTest, StopsBetweenNodes) {
    runner_.behaviour["1"] = [this](const NodeCall&, NodeObserver&) -> Result<NodeResult> {
        listener_.stop = true;
        return {};
    };
    const auto result = run(line());
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->code, Code::interrupted);
    EXPECT_EQ(result.error->place.node, "2");
    EXPECT_THAT(result.executed, ElementsAre("1"));
}

TEST_F(ExecutorTest, LetsNodesStop) {
    runner_.behaviour["2"] = [this](const NodeCall&, NodeObserver& observer) -> Result<NodeResult> {
        EXPECT_FALSE(observer.stop_requested());
        listener_.stop = true;
        EXPECT_TRUE(observer.stop_requested());
        return fail({.code = Code::interrupted, .what = "stopped"});
    };
    EXPECT_EQ(run(line()).error->code, Code::interrupted);
    listener_.stop = false;
    runner_.behaviour.clear();
    EXPECT_THAT(run(line()).executed, ElementsAre("2", "3"));
}

TEST_F(ExecutorTest, TurnsBrokenImplementationsIntoErrors) {
    const auto error_with =
        [&](std::function<Result<NodeResult>(const NodeCall&, NodeObserver&)> b) {
            runner_.behaviour["2"] = std::move(b);
            return run(line()).error.value_or(Error{});
        };
    const auto thrown = error_with(
        [](const auto&, auto&) -> Result<NodeResult> { throw std::runtime_error("it broke"); });
    EXPECT_EQ(thrown.code, Code::internal);
    EXPECT_EQ(to_string(thrown), "the node failed: node 2: it broke");
    EXPECT_EQ(error_with([](const auto&, auto&) -> Result<NodeResult> { throw 5; }).code,
              Code::internal);
    EXPECT_EQ(
        error_with([](const auto&, auto&) -> Result<NodeResult> { throw std::bad_alloc(); }).code,
        Code::out_of_memory);
    EXPECT_THAT(error_with([](const auto&, auto&) -> Result<NodeResult> {
                    return NodeResult{.outputs = {nullptr}, .ui = {}};
                }).why,
                HasSubstr("1 outputs instead of 2"));
    EXPECT_THAT(error_with([](const auto&, auto&) -> Result<NodeResult> {
                    return NodeResult{.outputs = {nullptr, nullptr}, .ui = {}};
                }).why,
                HasSubstr("an output that is used is missing"));
}

TEST_F(ExecutorTest, ChargesKeptResultsToTheLedger) {
    runner_.account = &ledger_;
    Executor executor(runner_, folders_);
    executor.run(line(), listener_);
    EXPECT_EQ(charged(), Bytes{200});  // one value each of nodes 1 and 2
    executor.clear();
    EXPECT_EQ(charged(), Bytes{});
}

TEST_F(ExecutorTest, DoesNotKeepWhatTheLedgerRefuses) {
    runner_.account = &ledger_;
    ledger_.set_limit(kCpu, Bytes{150});
    Executor executor(runner_, folders_);
    EXPECT_FALSE(executor.run(line(), listener_).error);
    ASSERT_EQ(listener_.warnings.size(), 1U);
    EXPECT_THAT(listener_.warnings[0], HasSubstr("2: the result is not kept"));
    EXPECT_EQ(charged(), Bytes{100});
    // The output node was kept, so nothing runs for the sake of the value that is lost.
    EXPECT_THAT(executor.run(line(), listener_).executed, IsEmpty());
}

TEST_F(ExecutorTest, LetsKeptResultsGoWhenMemoryIsShort) {
    run(line());
    int tries = 0;
    runner_.behaviour["2"] = [&](const NodeCall&, NodeObserver&) -> Result<NodeResult> {
        if (++tries == 1) return fail({.code = Code::does_not_fit, .what = "cannot decode"});
        EXPECT_LE(*runner_.alive, 3);
        return {};
    };
    listener_.warnings.clear();
    const auto result = run(line(1, 6));
    EXPECT_FALSE(result.error);
    EXPECT_EQ(tries, 2);
    EXPECT_THAT(result.executed, ElementsAre("2", "3"));
    EXPECT_THAT(listener_.warnings, ElementsAre(HasSubstr("memory is short")));
}

TEST_F(ExecutorTest, LetsKeptModelsGoWhenMemoryIsShort) {
    runner_.value_bytes = Bytes{};  // as handles on models say: their weights are charged elsewhere
    run(line());
    int tries = 0;
    runner_.behaviour["1"] = [&](const NodeCall&, NodeObserver&) -> Result<NodeResult> {
        EXPECT_EQ(*runner_.alive, tries == 0 ? 1 : 0);
        if (++tries == 1) return fail({.code = Code::does_not_fit, .what = "cannot load"});
        return {};
    };
    const auto result = run(trace_workflow(R"({
        "0":{"class_type":"Source","inputs":{"n":1}},
        "1":{"class_type":"Source","inputs":{"n":2}},
        "3":{"class_type":"Show","inputs":{"a":["1",0]}}})"));
    EXPECT_FALSE(result.error);
    EXPECT_EQ(tries, 2);
    EXPECT_THAT(listener_.warnings, ElementsAre(HasSubstr("memory is short")));
}

TEST_F(ExecutorTest, DoesNotTryAgainWhenThereIsNothingToLetGo) {
    int tries = 0;
    runner_.behaviour["1"] = [&](const NodeCall&, NodeObserver&) -> Result<NodeResult> {
        ++tries;
        return fail({.code = Code::out_of_memory, .what = "cannot load"});
    };
    EXPECT_EQ(run(line()).error->code, Code::out_of_memory);
    EXPECT_EQ(tries, 1);
}

TEST_F(ExecutorTest, RunsAChainOfAnyLength) {
    std::vector<WorkflowNode> nodes;
    constexpr int kLength = 100000;
    nodes.push_back(
        {.id = "0", .body = testing::json(R"({"class_type":"Source","inputs":{"n":1}})")});
    for (int i = 1; i < kLength; ++i)
        nodes.push_back({.id = std::to_string(i),
                         .body = {{"class_type", "Pair"},
                                  {"inputs", {{"a", Json::array({std::to_string(i - 1), 0})}}}}});
    nodes.push_back({.id = "show",
                     .body = {{"class_type", "Show"},
                              {"inputs", {{"a", Json::array({std::to_string(kLength - 1), 0})}}}}});
    const auto workflow =
        testing::valid(Workflow(std::move(nodes)), testing::trace_catalogue(), folders_);
    struct Silent final : NodeRunner {
        Result<NodeResult> run(const NodeCall& call, NodeObserver&) override {
            ++count;
            return NodeResult{.outputs = std::vector<ValuePtr>(call.output_is_used.size(), value),
                              .ui = {}};
        }
        ValuePtr value = std::make_shared<Trace>("", Bytes{1}, std::make_shared<int>(0));
        int count = 0;
    } silent;
    Executor executor(silent, folders_);
    RunObserver nobody;
    EXPECT_FALSE(executor.run(workflow, nobody).error);
    EXPECT_EQ(silent.count, kLength + 1);
}

}  // namespace
}  // namespace ballast::graph
