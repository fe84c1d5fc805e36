// What `ballast run --repeat` keeps and lets go between its passes, in the program itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/demo_run.hpp"

namespace ballast::testing {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr auto kText = "ballast-demo.safetensors (text)";
constexpr auto kUnet = "ballast-demo.safetensors (unet)";
constexpr auto kVae = "ballast-demo.safetensors (vae)";

std::vector<std::string> on_a_card(std::vector<std::string> more) {
    std::vector<std::string> words{"--simulate", machine_profile("rtx-3060-laptop-6gb-16gb"),
                                   "--repeat", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

DemoRun run_twice(std::vector<std::string> more) {
    auto run = run_demo(on_a_card(std::move(more)));
    EXPECT_EQ(run.outcome.status, 0) << run.outcome.out << run.outcome.err;
    return run;
}

std::vector<std::string> names(const json& models) {
    std::vector<std::string> list;
    for (const auto& model : models) list.push_back(model.at("name"));
    return list;
}

const json& loaded(const DemoRun& run) { return run.report.at("memory").at("models"); }

TEST(FreeBetween, NothingIsFreedUnlessItIsAskedFor) {
    const auto run = run_twice({});
    for (const auto& pass : run.report.at("runs")) EXPECT_FALSE(pass.contains("freed"));
    EXPECT_THAT(names(loaded(run)), ElementsAre(kText, kUnet, kVae));
    EXPECT_EQ(run.report["runs"][1]["executed"], json::array()) << "all results were kept";
}

TEST(FreeBetween, ModelsGoAndResultsStay) {
    const auto run = run_twice({"--free-between", "models"});
    const auto& freed = run.report["runs"][0]["freed"];
    EXPECT_THAT(names(freed.at("released")), ElementsAre(kText, kUnet, kVae));
    EXPECT_THAT(freed.at("kept"), IsEmpty());
    EXPECT_FALSE(freed.at("results_dropped").get<bool>());
    std::uint64_t bytes = 0;
    for (const auto& model : freed.at("released"))
        bytes += model.at("devices").at("cuda:0").get<std::uint64_t>();
    EXPECT_EQ(freed["devices"]["cuda:0"]["released"], bytes);
    EXPECT_EQ(freed["devices"]["cuda:0"]["tiers"], json({{"resident", bytes}}));
    EXPECT_EQ(run.report["runs"][1]["executed"], json::array());
    EXPECT_FALSE(run.report["runs"][1].contains("freed")) << "nothing follows the last pass";
    EXPECT_THAT(loaded(run), IsEmpty()) << "nobody needed them again";
}

TEST(FreeBetween, TheCacheAloneGoesAndEveryModelStays) {
    const auto run = run_twice({"--free-between", "cache"});
    const auto& freed = run.report["runs"][0]["freed"];
    EXPECT_THAT(freed.at("released"), IsEmpty());
    EXPECT_TRUE(freed.at("results_dropped").get<bool>());
    EXPECT_EQ(run.report["runs"][1]["executed"].size(), 7U);
    EXPECT_THAT(names(loaded(run)), ElementsAre(kText, kUnet, kVae));
    for (const auto& model : loaded(run))
        EXPECT_GE(model.at("uses").get<int>(), 2) << "the same one in both passes";
}

TEST(FreeBetween, BothFreeEverythingThatIsNotKeptAndThePictureIsTheSame) {
    const auto run = run_twice({"--free-between", "both", "--keep", kVae});
    EXPECT_TRUE(run.picture == run_demo().picture);
    const auto& freed = run.report["runs"][0]["freed"];
    EXPECT_THAT(names(freed.at("released")), ElementsAre(kText, kUnet));
    EXPECT_THAT(names(freed.at("kept")), ElementsAre(kVae));
    EXPECT_EQ(freed["kept"][0]["why"], "retained");
    EXPECT_EQ(freed["devices"]["cuda:0"]["kept"], freed["kept"][0]["devices"]["cuda:0"]);
    for (const auto& model : loaded(run)) {
        const bool is_kept = model.at("name") == kVae;
        EXPECT_EQ(model.at("retention"), is_kept ? "keep" : "release");
        EXPECT_EQ(model.at("uses").get<int>() > 1, is_kept || model.at("name") == kText);
    }
}

TEST(FreeBetween, WithNothingFlaggedNothingGoesAndTheAnswerSaysHowToReleaseIt) {
    const auto run = run_twice({"--free-between", "models", "--default-retention", "keep"});
    const auto& freed = run.report["runs"][0]["freed"];
    EXPECT_THAT(freed.at("released"), IsEmpty());
    EXPECT_THAT(names(freed.at("kept")), UnorderedElementsAre(kText, kUnet, kVae));
    EXPECT_EQ(freed["devices"]["cuda:0"]["released"], 0);
    const TemporaryFolder folder;
    std::vector<std::string> words{"run",      in_repository("data/demo/workflow.json").string(),
                                   "--models", in_repository("data/demo/models").string(),
                                   "--output", (folder / "out").string()};
    for (auto& word : on_a_card({"--free-between", "models", "--default-retention", "keep"}))
        words.push_back(word);
    EXPECT_THAT(run_program(words).out, HasSubstr("kept by its flag; eject it by name"));
}

TEST(FreeBetween, ANamedModelIsEjectedAlthoughItIsKept) {
    const auto run = run_twice({"--eject-between", kUnet, "--default-retention", "keep"});
    const auto& freed = run.report["runs"][0]["freed"];
    EXPECT_THAT(names(freed.at("released")), ElementsAre(kUnet));
    EXPECT_THAT(names(freed.at("kept")), UnorderedElementsAre(kText, kVae));
}

TEST(FreeBetween, EverythingGoesByForce) {
    const auto run = run_twice({"--unload-between", "--default-retention", "keep"});
    EXPECT_THAT(names(run.report["runs"][0]["freed"]["released"]), ElementsAre(kText, kUnet, kVae));
}

TEST(FreeBetween, AnUnknownModelIsRefusedBeforeAnythingRuns) {
    for (const auto* option : {"--eject-between", "--keep"}) {
        const auto run = run_demo(on_a_card({option, "flux.safetensors"}));
        EXPECT_EQ(run.outcome.status, 2) << run.outcome.out;
        const auto& error = run.report.at("error");
        EXPECT_EQ(error["where"]["key"], option);
        EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("'flux.safetensors'"));
        EXPECT_THAT(error["hint"].get<std::string>(), HasSubstr(kUnet));
        EXPECT_FALSE(run.report.contains("runs"));
    }
}

TEST(FreeBetween, ADryRunKnowsItToo) {
    const auto run = run_demo(on_a_card({"--keep", "flux.safetensors", "--dry-run"}));
    EXPECT_EQ(run.outcome.status, 2) << run.outcome.out;
}

TEST(FreeBetween, WithoutASecondRunSaysThatNothingIsFreed) {
    const auto run = run_demo({"--free-between", "both"});
    EXPECT_EQ(run.outcome.status, 0);
    EXPECT_THAT(run.report.at("warnings").dump(), HasSubstr("give --repeat"));
}

TEST(FreeBetween, AFileNamesAllOfItsParts) {
    const auto run = run_twice({"--eject-between", "ballast-demo.safetensors"});
    EXPECT_EQ(run.report["runs"][0]["freed"]["released"].size(), 3U);
}

TEST(MemoryOfARun, IsToldForEveryDeviceButNoneIsWokenForIt) {
    const auto run = run_demo({"--simulate", machine_profile("rtx-3090-24gb-rtx-3060-12gb")});
    ASSERT_EQ(run.outcome.status, 0) << run.outcome.err;
    const auto& devices = run.report["memory"]["devices"];
    ASSERT_EQ(devices.size(), 3U);
    EXPECT_EQ(devices[1]["id"], "cuda:0");
    EXPECT_TRUE(devices[1]["awake"].get<bool>());
    EXPECT_GT(devices[1]["by_tag"]["weights"].get<std::uint64_t>(), 0U);
    EXPECT_EQ(devices[2]["id"], "cuda:1");
    EXPECT_FALSE(devices[2]["awake"].get<bool>());
    EXPECT_TRUE(devices[2]["free"].is_null());
    EXPECT_EQ(devices[2]["note"], "not initialised");
    EXPECT_FALSE(run.report["memory"]["running"].get<bool>());
}

TEST(MemoryLines, AreWrittenOnRequestAndIntoAFileThatTheEnvironmentNames) {
    const TemporaryFolder folder;
    const auto file = (folder / "log.jsonl").string();
    std::vector<std::string> words{"run",         in_repository("data/demo/workflow.json").string(),
                                   "--models",    in_repository("data/demo/models").string(),
                                   "--output",    (folder / "out").string(),
                                   "--memory-log"};
    for (auto& word : on_a_card({"--free-between", "both"})) words.push_back(word);
    const auto outcome = run_program(
        words, {.environment = {{"MGPU_JSON_LOG_PATH", file}, {"MGPU_JSON_PROMPT", "p-1"}}});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("[MultiGPU Model Management] [FREE_MEMORY_CALL] Device "
                                       "cuda:0: requesting "));
    EXPECT_THAT(outcome.err, HasSubstr("tag=after_unet|cpu="));
    EXPECT_THAT(outcome.err, HasSubstr("tag=after_run|cpu="));
    std::istringstream lines(content_of(file));
    std::size_t requests = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto entry = json::parse(line);
        EXPECT_EQ(entry.at("name"), "MultiGPU");
        EXPECT_EQ(entry.at("prompt_id"), "p-1");
        if (entry.at("message").get<std::string>().find("[FREE_MEMORY_CALL]") !=
            std::string::npos) {
            ++requests;
            EXPECT_EQ(entry.at("component"), "model_management");
            EXPECT_EQ(entry.at("level"), "FOCUS");
        }
    }
    EXPECT_GE(requests, 5U) << "each load of both passes";
}

}  // namespace
}  // namespace ballast::testing
