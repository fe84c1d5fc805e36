#include "ballast/graph/signature.hpp"

#include "tests/graph/execution_support.hpp"
#include "tests/graph/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::graph {
namespace {

using testing::trace_workflow;

std::map<std::string, std::optional<Digest>> keys_of(const ValidWorkflow& workflow,
                                                     const Folders& folders = Folders({})) {
    const auto keys =
        signatures(workflow, change_values(workflow, folders), file_versions(workflow, folders));
    std::map<std::string, std::optional<Digest>> by_id;
    for (std::size_t i = 0; i < keys.size(); ++i) by_id[workflow.nodes[i].id] = keys[i];
    return by_id;
}

/// The key of node "2" in a workflow whose node "1" and "2" are given.
std::optional<Digest> key(const std::string& one, const std::string& two) {
    return keys_of(trace_workflow("{\"1\":" + one + ",\"2\":" + two +
                                  R"(,"3":{"class_type":"Show","inputs":{"a":["2",0]}}})"))["2"];
}

const char* const kSource = R"({"class_type":"Source","inputs":{"n":1}})";
const char* const kPair = R"({"class_type":"Pair","inputs":{"a":["1",0],"n":5}})";

TEST(Signature, DoesNotSeeIdsTitlesAndOrder) {
    const auto one = keys_of(trace_workflow(R"({
        "1":{"class_type":"Source","inputs":{"n":1}},
        "2":{"class_type":"Pair","inputs":{"a":["1",0],"n":5}},
        "3":{"class_type":"Show","inputs":{"a":["2",0]}}})"));
    const auto other = keys_of(trace_workflow(R"({
        "30":{"class_type":"Show","inputs":{"a":["20",0]}},
        "20":{"class_type":"Pair","inputs":{"n":5,"a":["10",0],"unknown":7},"_meta":{"title":"T"}},
        "10":{"class_type":"Source","inputs":{"n":"1"}}})"));
    EXPECT_EQ(one.at("1"), other.at("10"));
    EXPECT_EQ(one.at("2"), other.at("20"));
    EXPECT_EQ(one.at("3"), other.at("30"));
}

TEST(Signature, SeesConstantsLinksAndClasses) {
    const auto usual = key(kSource, kPair);
    for (const auto& changed :
         {key(R"({"class_type":"Source","inputs":{"n":2}})", kPair),
          key(kSource, R"({"class_type":"Pair","inputs":{"a":["1",0],"n":6}})"),
          key(kSource, R"({"class_type":"Pair","inputs":{"a":["1",1],"n":5}})"),
          key(kSource, R"({"class_type":"Pair","inputs":{"b":["1",0],"n":5}})"),
          key(kSource, R"({"class_type":"Pair","inputs":{"a":["1",0]}})"),
          key(R"({"class_type":"Pair","inputs":{"n":1}})", kPair)})
        EXPECT_NE(usual, changed);
    EXPECT_EQ(usual, key(kSource, kPair));
}

TEST(Signature, SeesTheIdOfNodesThatAskForIt) {
    const auto keys = keys_of(trace_workflow(R"({
        "1":{"class_type":"Named","inputs":{}},"2":{"class_type":"Named","inputs":{}},
        "3":{"class_type":"Show","inputs":{"a":["1",0]}},
        "4":{"class_type":"Show","inputs":{"a":["2",0]}}})"));
    EXPECT_NE(keys.at("1"), keys.at("2"));
    EXPECT_NE(keys.at("3"), keys.at("4"));
}

TEST(Signature, SeesTheContentOfPictures) {
    const testing::RecordedFolders recorded;
    const auto workflow = testing::valid(
        testing::workflow_of(R"({"1":{"class_type":"LoadImage","inputs":{"image":"rgb.png"}},
                                 "2":{"class_type":"PreviewImage","inputs":{"images":["1",0]}}})"),
        standard_catalogue(), recorded.folders());
    const auto before = keys_of(workflow, recorded.folders());
    EXPECT_EQ(before, keys_of(workflow, recorded.folders()));
    recorded.root().write("input/rgb.png", "other pixels");
    const auto after = keys_of(workflow, recorded.folders());
    EXPECT_NE(before.at("1"), after.at("1"));
    EXPECT_NE(before.at("2"), after.at("2"));
}

TEST(Signature, IsMissingWhereAChangeCannotBeDetected) {
    const testing::RecordedFolders recorded;
    const auto workflow = testing::valid(
        testing::workflow_of(R"({"1":{"class_type":"LoadImage","inputs":{"image":"rgb.png"}},
                                 "2":{"class_type":"PreviewImage","inputs":{"images":["1",0]}}})"),
        standard_catalogue(), recorded.folders());
    std::filesystem::remove(recorded.root() / "input/rgb.png");
    const auto keys = keys_of(workflow, recorded.folders());
    EXPECT_EQ(keys.at("1"), std::nullopt);
    EXPECT_EQ(keys.at("2"), std::nullopt);
}

TEST(Signature, BelievesAWorkflowThatBringsItsChangeValue) {
    const testing::RecordedFolders recorded;
    const auto keys = [&](const char* value) {
        return keys_of(
            testing::valid(
                testing::workflow_of(
                    std::string{
                        R"({"1":{"class_type":"LoadImage","inputs":{"image":"rgb.png"},"is_changed":)"} +
                    value + R"(},"2":{"class_type":"PreviewImage","inputs":{"images":["1",0]}}})"),
                standard_catalogue(), recorded.folders()),
            recorded.folders());
    };
    EXPECT_EQ(keys("[\"a\"]"), keys("[\"a\"]"));
    EXPECT_NE(keys("[\"a\"]"), keys("[\"b\"]"));
    EXPECT_NE(keys("[1.5]"), keys("[1.25]"));
    EXPECT_NE(keys("{\"a\":-1}"), keys("{\"a\":true}"));
}

TEST(Signature, OrdersSourcesFirst) {
    const auto workflow = trace_workflow(R"({
        "3":{"class_type":"Show","inputs":{"a":["2",0]}},
        "2":{"class_type":"Pair","inputs":{"a":["1",0],"b":["1",1]}},
        "1":{"class_type":"Source","inputs":{"n":1}}})");
    EXPECT_EQ(sources_first(workflow), (std::vector<std::size_t>{2, 1, 0}));
}

TEST(Signature, SeesThatAModelFileWasReplaced) {
    const ballast::testing::TemporaryFolder folder;
    const auto file = folder / "models/vae/pictures.safetensors";
    std::filesystem::create_directories(file.parent_path());
    folder.write("models/vae/pictures.safetensors", "one");
    const Folders folders({.model_roots = {folder / "models"},
                           .input = folder / "input",
                           .output = folder / "output",
                           .temp = folder / "temp"});
    const auto workflow = testing::valid(testing::workflow_of(R"({
        "1":{"class_type":"VAELoader","inputs":{"vae_name":"pictures.safetensors"}},
        "2":{"class_type":"EmptyLatentImage","inputs":{"width":64,"height":64,"batch_size":1}},
        "3":{"class_type":"VAEDecode","inputs":{"samples":["2",0],"vae":["1",0]}},
        "4":{"class_type":"SaveImage","inputs":{"images":["3",0],"filename_prefix":"p"}}})"),
                                         standard_catalogue(Devices({kCpu})), folders);
    const auto before = keys_of(workflow, folders);
    EXPECT_EQ(keys_of(workflow, folders), before);
    folder.write("models/vae/pictures.safetensors", "another");
    const auto after = keys_of(workflow, folders);
    for (const auto* changed : {"1", "3", "4"}) EXPECT_NE(after.at(changed), before.at(changed));
    EXPECT_EQ(after.at("2"), before.at("2"));
}

}  // namespace
}  // namespace ballast::graph
