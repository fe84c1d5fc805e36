// Properties of execution over random workflows.

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/graph/execution_support.hpp"

namespace ballast::graph {
namespace {

using ::testing::IsEmpty;
using testing::Listener;
using testing::TraceRunner;

/// A random workflow without equal nodes: node i is linked to nodes before it, and stands anywhere
/// in the document.
Json random_document(std::mt19937_64& random) {
    const auto below = [&](std::size_t bound) -> std::size_t { return random() % bound; };
    const std::size_t count = 2 + below(30);
    std::vector<std::pair<std::string, Json>> nodes;
    for (std::size_t i = 0; i < count; ++i) {
        Json inputs = {{"n", i * 1000}};
        const auto link = [&] { return Json::array({std::to_string(below(i)), below(2)}); };
        if (i > 0 && below(4) != 0) inputs["a"] = link();
        if (i > 0 && below(2) != 0) inputs["b"] = link();
        nodes.emplace_back(std::to_string(i), Json{{"class_type", "Pair"}, {"inputs", inputs}});
    }
    std::set<std::size_t> shown;
    for (int i = 0; i < 3; ++i) shown.insert(below(count));
    for (const std::size_t i : shown)
        nodes.emplace_back(
            "show" + std::to_string(i),
            Json{{"class_type", "Show"}, {"inputs", {{"a", Json::array({std::to_string(i), 0})}}}});
    std::shuffle(nodes.begin(), nodes.end(), random);
    Json document = Json::object();
    for (auto& [id, node] : nodes) document[id] = std::move(node);
    return document;
}

ValidWorkflow valid(const Json& document) {
    return testing::valid(*workflow_from_json(document), testing::trace_catalogue(), Folders({}));
}

std::vector<std::string> sources_of(const Json& node) {
    std::vector<std::string> sources;
    for (const auto& [name, value] : node.at("inputs").items())
        if (value.is_array()) sources.push_back(value[0]);
    return sources;
}

/// The nodes that outputs depend on, themselves included.
std::set<std::string> needed(const Json& document) {
    std::set<std::string> found;
    std::vector<std::string> open;
    for (const auto& [id, node] : document.items())
        if (node.at("class_type") == "Show") open.push_back(id);
    while (!open.empty()) {
        const std::string id = open.back();
        open.pop_back();
        if (!found.insert(id).second) continue;
        for (const auto& source : sources_of(document.at(id))) open.push_back(source);
    }
    return found;
}

/// `start` and everything that depends on it.
std::set<std::string> descendants(const Json& document, const std::string& start) {
    std::set<std::string> found{start};
    for (bool grew = true; grew;) {
        grew = false;
        for (const auto& [id, node] : document.items())
            for (const auto& source : sources_of(node))
                if (found.contains(source) && found.insert(id).second) grew = true;
    }
    return found;
}

std::set<std::string> as_set(const std::vector<std::string>& ids) {
    return {ids.begin(), ids.end()};
}

constexpr int kWorkflows = 300;

TEST(ExecutionProperty, EachNeededNodeRunsOnceAndAfterItsSources) {
    std::mt19937_64 random(1);
    const Folders folders({});
    for (int i = 0; i < kWorkflows; ++i) {
        const Json document = random_document(random);
        SCOPED_TRACE(document.dump());
        TraceRunner runner;
        Listener listener;
        Executor executor(runner, folders);
        const auto result = executor.run(valid(document), listener);
        ASSERT_FALSE(result.error);
        EXPECT_EQ(as_set(result.executed), needed(document));
        EXPECT_EQ(result.executed.size(), needed(document).size());
        EXPECT_EQ(result.executed, runner.calls);
        std::set<std::string> done;
        for (const auto& id : result.executed) {
            for (const auto& source : sources_of(document.at(id)))
                EXPECT_TRUE(done.contains(source));
            done.insert(id);
        }
    }
}

TEST(ExecutionProperty, TheSameWorkflowRunsNothingAgainHoweverItIsWritten) {
    std::mt19937_64 random(2);
    const Folders folders({});
    for (int i = 0; i < kWorkflows; ++i) {
        const Json document = random_document(random);
        SCOPED_TRACE(document.dump());
        // other ids, other order
        std::vector<std::pair<std::string, Json>> nodes;
        for (const auto& [id, node] : document.items()) {
            Json renamed = node;
            for (auto& [name, value] : renamed["inputs"].items())
                if (value.is_array()) value[0] = "x" + value[0].get<std::string>();
            nodes.emplace_back("x" + id, std::move(renamed));
        }
        std::shuffle(nodes.begin(), nodes.end(), random);
        Json other = Json::object();
        for (auto& [id, node] : nodes) other[id] = std::move(node);

        TraceRunner runner;
        Listener listener;
        Executor executor(runner, folders);
        const auto first = executor.run(valid(document), listener);
        const auto second = executor.run(valid(other), listener);
        EXPECT_THAT(second.executed, IsEmpty());
        EXPECT_EQ(second.cached.size(), first.executed.size());
    }
}

TEST(ExecutionProperty, AChangedConstantRunsExactlyItsDescendants) {
    std::mt19937_64 random(3);
    const Folders folders({});
    for (int i = 0; i < kWorkflows; ++i) {
        Json document = random_document(random);
        TraceRunner runner;
        Listener listener;
        Executor executor(runner, folders);
        executor.run(valid(document), listener);

        const auto before = needed(document);
        auto changed =
            std::next(before.begin(), static_cast<std::ptrdiff_t>(random() % before.size()));
        if (document[*changed]["class_type"] == "Show") continue;
        document[*changed]["inputs"]["n"] = 999999;
        SCOPED_TRACE(document.dump());
        std::set<std::string> expected;
        for (const auto& id : descendants(document, *changed))
            if (before.contains(id)) expected.insert(id);
        EXPECT_EQ(as_set(executor.run(valid(document), listener).executed), expected);
    }
}

TEST(ExecutionProperty, ResultsDoNotDependOnTheCache) {
    std::mt19937_64 random(4);
    const Folders folders({});
    TraceRunner runner;
    Listener listener;
    std::vector<std::unique_ptr<Executor>> executors;
    for (const CachePolicy policy :
         {CachePolicy{CachePolicy::Kind::none, 0}, CachePolicy{CachePolicy::Kind::classic, 0},
          CachePolicy{CachePolicy::Kind::lru, 20}})
        executors.push_back(std::make_unique<Executor>(runner, folders, policy));
    Json document = random_document(random);
    for (int i = 0; i < kWorkflows; ++i) {
        if (random() % 4 == 0) document = random_document(random);
        auto node = document.begin();
        std::advance(node, static_cast<std::ptrdiff_t>(random() % document.size()));
        if ((*node)["class_type"] == "Pair") (*node)["inputs"]["n"] = random() % 1000000;
        const auto workflow = valid(document);
        std::vector<std::map<std::string, Json>> shown;
        for (const auto& executor : executors) {
            const auto result = executor->run(workflow, listener);
            ASSERT_FALSE(result.error);
            shown.emplace_back(result.ui.begin(), result.ui.end());
        }
        EXPECT_EQ(shown[0], shown[1]);
        EXPECT_EQ(shown[0], shown[2]);
    }
}

TEST(ExecutionProperty, NoValueOutlivesItsUse) {
    std::mt19937_64 random(5);
    const Folders folders({});
    for (int i = 0; i < kWorkflows; ++i) {
        TraceRunner runner;
        Listener listener;
        const auto workflow = valid(random_document(random));
        Executor executor(runner, folders, {CachePolicy::Kind::none, 0});
        executor.run(workflow, listener);
        runner.last_call = {};
        EXPECT_EQ(*runner.alive, 0);
    }
}

}  // namespace
}  // namespace ballast::graph
