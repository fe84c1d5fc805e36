#include "ballast/graph/work_list.hpp"

#include <gmock/gmock.h>

#include "tests/graph/execution_support.hpp"

namespace ballast::graph {
namespace {

using ::testing::ElementsAre;
using testing::trace_workflow;

/// The ids in the order in which they run, when those in `cached` have results.
std::vector<std::string> order(const ValidWorkflow& workflow,
                               const std::set<std::string>& cached = {}) {
    std::vector<bool> has_result;
    for (const auto& node : workflow.nodes) has_result.push_back(cached.contains(node.id));
    WorkList list(workflow, has_result);
    std::vector<std::string> ids;
    while (const auto node = list.next()) {
        ids.push_back(workflow.nodes[*node].id);
        list.finished(*node);
    }
    EXPECT_EQ(ids.size(), list.members().size());
    return ids;
}

TEST(WorkList, PutsSourcesBeforeConsumers) {
    EXPECT_THAT(order(trace_workflow(R"({
        "show":{"class_type":"Show","inputs":{"a":["b",0]}},
        "b":{"class_type":"Pair","inputs":{"a":["a",0]}},
        "a":{"class_type":"Source","inputs":{"n":1}}})")),
                ElementsAre("a", "b", "show"));
}

TEST(WorkList, LeavesOutWhatNoOutputNeeds) {
    EXPECT_THAT(order(trace_workflow(R"({
        "a":{"class_type":"Source","inputs":{"n":1}},
        "b":{"class_type":"Pair","inputs":{"a":["a",0]}},
        "show":{"class_type":"Show","inputs":{"a":["a",0]}}})")),
                ElementsAre("a", "show"));
}

// The order that the recordings of the original show for a batch with two outputs.
TEST(WorkList, PrefersOutputsThenTheirNeighbours) {
    EXPECT_THAT(order(trace_workflow(R"({
        "1":{"class_type":"Source","inputs":{"n":1}},
        "2":{"class_type":"Pair","inputs":{"a":["1",0]}},
        "3":{"class_type":"Show","inputs":{"a":["2",0]}},
        "4":{"class_type":"Show","inputs":{"a":["1",0]}}})")),
                ElementsAre("1", "4", "2", "3"));
    // 5 feeds an output, 1 only a node that feeds one
    EXPECT_THAT(order(trace_workflow(R"({
        "1":{"class_type":"Source","inputs":{"n":1}},
        "2":{"class_type":"Pair","inputs":{"a":["1",0]}},
        "3":{"class_type":"Show","inputs":{"a":["2",0]}},
        "5":{"class_type":"Source","inputs":{"n":2}},
        "6":{"class_type":"Show","inputs":{"a":["5",0]}}})")),
                ElementsAre("5", "6", "1", "2", "3"));
    // 1 feeds an output in two hops, 0 in three
    EXPECT_THAT(order(trace_workflow(R"({
        "0":{"class_type":"Source","inputs":{"n":3}},
        "1":{"class_type":"Source","inputs":{"n":1}},
        "2":{"class_type":"Pair","inputs":{"a":["0",0]}},
        "3":{"class_type":"Pair","inputs":{"a":["1",0],"b":["2",0]}},
        "4":{"class_type":"Show","inputs":{"a":["3",0]}}})")),
                ElementsAre("1", "0", "2", "3", "4"));
}

// A run of the original server, with its order of execution.
TEST(WorkList, RunsAWholePictureInTheRecordedOrder) {
    const testing::RecordedFolders recorded;
    const auto workflow = testing::valid(testing::workflow_of(R"({
        "4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"a.ckpt"}},
        "5":{"class_type":"EmptyLatentImage","inputs":{"width":64,"height":64,"batch_size":1}},
        "6":{"class_type":"CLIPTextEncode","inputs":{"text":"a cat","clip":["4",1]}},
        "7":{"class_type":"CLIPTextEncode","inputs":{"text":"","clip":["4",1]}},
        "3":{"class_type":"KSampler","inputs":{"model":["4",0],"seed":1,"steps":3,"cfg":3.0,
             "sampler_name":"euler","scheduler":"normal","positive":["6",0],"negative":["7",0],
             "latent_image":["5",0],"denoise":1.0}},
        "8":{"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["4",2]}},
        "9":{"class_type":"SaveImage","inputs":{"images":["8",0],"filename_prefix":"real"}}})"),
                                         standard_catalogue(), recorded.folders());
    EXPECT_THAT(order(workflow), ElementsAre("4", "5", "7", "6", "3", "8", "9"));
}

TEST(WorkList, TakesTheLastInputFirstAmongEquals) {
    EXPECT_THAT(order(trace_workflow(R"({
        "1":{"class_type":"Source","inputs":{"n":1}},
        "2":{"class_type":"Source","inputs":{"n":2}},
        "3":{"class_type":"Pair","inputs":{"a":["1",0],"b":["2",0]}},
        "4":{"class_type":"Show","inputs":{"a":["3",0]}}})")),
                ElementsAre("2", "1", "3", "4"));
}

TEST(WorkList, StopsAtResultsThatAreThere) {
    const auto workflow = trace_workflow(R"({
        "1":{"class_type":"Source","inputs":{"n":1}},
        "2":{"class_type":"Pair","inputs":{"a":["1",0]}},
        "3":{"class_type":"Show","inputs":{"a":["2",0]}}})");
    EXPECT_THAT(order(workflow, {"2"}), ElementsAre("3"));
    EXPECT_THAT(order(workflow, {"1"}), ElementsAre("2", "3"));
    // A finished output is a member, but nothing runs for its sake.
    EXPECT_THAT(order(workflow, {"3"}), ElementsAre("3"));
}

TEST(WorkList, WaitsForEveryLink) {
    EXPECT_THAT(order(trace_workflow(R"({
        "1":{"class_type":"Source","inputs":{"n":1}},
        "2":{"class_type":"Pair","inputs":{"a":["1",0],"b":["1",1]}},
        "3":{"class_type":"Show","inputs":{"a":["2",0]}}})")),
                ElementsAre("1", "2", "3"));
}

}  // namespace
}  // namespace ballast::graph
