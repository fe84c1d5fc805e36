// `ballast plan` as a user calls it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class PlanCommand : public ::testing::Test {
protected:
    PlanCommand() {
        Json blocks = Json::array();
        for (int i = 0; i < 10; ++i)
            blocks.push_back({{"name", "B" + std::to_string(i)}, {"bytes", 1 << 30}});
        blocks_ = folder_.write("blocks.json", Json{{"blocks", blocks}}.dump()).string();
        const auto card = [](const char* id) {
            return Json{{"id", id},
                        {"vendor", "nvidia"},
                        {"total", 24ULL << 30U},
                        {"free", 24ULL << 30U},
                        {"integrated", 0}};
        };
        const Json machine{{"host", {{"total", 64ULL << 30U}, {"available", 60ULL << 30U}}},
                           {"devices", {card("cuda:0"), card("cuda:1")}}};
        machine_ = folder_.write("machine.json", machine.dump()).string();
    }

    Outcome plan(std::vector<std::string> more) const {
        more.insert(more.begin(), {"plan", "--blocks", blocks_, "--simulate", machine_});
        return run_program(more);
    }
    Json document(std::vector<std::string> more) const {
        more.emplace_back("--json");
        const auto outcome = plan(more);
        return Json::parse(outcome.out);
    }

    TemporaryFolder folder_;
    std::string blocks_;
    std::string machine_;
};

TEST_F(PlanCommand, HasEveryDocumentedKey) {
    const auto made = document({"--allocation", "cuda:0,2.5gb;cuda:1,3.0g;cpu,*#cuda:0"});
    for (const auto* key :
         {"compute", "mode", "blocks", "homes", "quotas", "ring_bytes", "activation_bytes",
          "bytes_per_step", "expected", "fits", "shortfall", "warnings", "explanation"})
        EXPECT_TRUE(made.contains(key)) << key;
    EXPECT_EQ(made.at("homes"),
              (Json{{"cpu", 5ULL << 30U}, {"cuda:0", 2ULL << 30U}, {"cuda:1", 3ULL << 30U}}));
    EXPECT_EQ(made.at("blocks").at(2).at("home"), "cuda:1");
    EXPECT_TRUE(made.at("expected").is_null());
    EXPECT_TRUE(made.at("fits").get<bool>());
}

TEST_F(PlanCommand, TwoSpellingsGiveOnePlan) {
    EXPECT_EQ(document({"--allocation", " CUDA:0 , 2GB ; cpu , * "}),
              document({"--allocation", "cuda:0,2gb;cpu,*;"}));
    EXPECT_EQ(document({"--virtual-vram", "4", "--compute", "cuda:0"}),
              document({"--allocation", "#cuda:0;4.0;cpu"}));
}

TEST_F(PlanCommand, WhatDoesNotFitIsPrintedAndRefused) {
    const auto outcome = plan({"--activation", "20gb", "--allocation", "cuda:0,9gb;cpu,*"});
    EXPECT_EQ(outcome.status, 4);
    EXPECT_THAT(outcome.out, HasSubstr("cuda:0"));
    EXPECT_THAT(outcome.err, HasSubstr("missing"));
    const auto made = document({"--activation", "20gb", "--allocation", "cuda:0,9gb;cpu,*"});
    EXPECT_FALSE(made.at("fits").get<bool>());
    EXPECT_TRUE(made.at("shortfall").contains("cuda:0"));
}

TEST_F(PlanCommand, FaultsOfATextNameTheColumn) {
    const auto outcome = plan({"--allocation", "cuda:0,2,5gb;cpu,*"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, HasSubstr("allocation string, column 8"));
    EXPECT_EQ(plan({"--allocation", "cuda:7,1gb;cpu,*"}).status, 2);
    EXPECT_EQ(plan({"--compute", "cuda:7"}).status, 2);
    EXPECT_EQ(plan({"--activation", "lots"}).status, 2);
    EXPECT_EQ(run_program({"plan"}).status, 2);
    EXPECT_EQ(run_program({"plan", "--blocks", "/nowhere.json"}).status, 3);
}

TEST_F(PlanCommand, PlacesAsDisTorch2ToCompare) {
    const auto made = document(
        {"--placement", "distorch2", "--allocation", "cuda:0,2.5gb;cuda:1,3.0g;cpu,*#cuda:0"});
    EXPECT_EQ(made.at("blocks").at(9).at("home"), "cuda:0") << "from the tail";
}

TEST_F(PlanCommand, PlansAFileOfWeights) {
    const auto outcome = run_program(
        {"plan", in_repository("data/demo/models/checkpoints/ballast-demo.safetensors").string(),
         "--simulate", machine_, "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const auto made = Json::parse(outcome.out);
    EXPECT_EQ(made.at("models").size(), 3U);
}

/// The plans for the parts of the demo model on a described machine.
class PlanOfAFile : public ::testing::Test {
protected:
    static Json plans(std::vector<std::string> more, const std::string& profile = "rtx-4090-64gb") {
        const auto model = in_repository("data/demo/models/checkpoints/ballast-demo.safetensors");
        const auto machine = in_repository("profiles/" + profile + ".json");
        more.insert(more.begin(),
                    {"plan", model.string(), "--simulate", machine.string(), "--json"});
        const auto outcome = run_program(more);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return Json::parse(outcome.out).at("models");
    }
    static std::uint64_t activations(const Json& plan) {
        return plan.at("activation_bytes").get<std::uint64_t>();
    }
};

TEST_F(PlanOfAFile, SaysHowLongAStepOfEachPartTakesAndWhatItNeeds) {
    for (const auto& plan : plans({})) {
        SCOPED_TRACE(plan.at("name"));
        ASSERT_FALSE(plan.at("expected").is_null());
        EXPECT_GT(plan.at("expected").at("bound_s").get<double>(), 0);
        EXPECT_GE(plan.at("expected").at("step_s"), plan.at("expected").at("bound_s"));
        EXPECT_GT(activations(plan), 0U);
    }
}

TEST_F(PlanOfAFile, OnADeviceOfUnknownSpeedNoTimeIsExpected) {
    for (const auto& plan : plans({}, "container-8gb-cpu")) {
        EXPECT_TRUE(plan.at("expected").is_null());
        EXPECT_GT(activations(plan), 0U);
    }
}

TEST_F(PlanOfAFile, ActivationsHaveTheFormatOfTheComputeDevice) {
    const auto on_card = plans({"--compute", "cuda:0"});
    const auto on_processor = plans({"--compute", "cpu"});
    // beside them, a processor widens the largest block, which is stored in 16 bits, to fp32
    const auto widened = [](const Json& plan) {
        std::uint64_t most = 0;
        for (const auto& block : plan.at("blocks"))
            most = std::max(most, 2 * block.at("bytes").get<std::uint64_t>());
        return most;
    };
    const auto computed = [&](const Json& plan) { return activations(plan) - widened(plan); };
    EXPECT_LT(activations(on_card[0]), computed(on_processor[0]) * 6 / 10) << "the network";
    // and its allocator and each thread's attention need a little more
    const auto expect_equal_but_for_scratch = [&](const Json& card, const Json& processor) {
        const std::uint64_t mib = 1U << 20U;
        EXPECT_GE(computed(processor), activations(card) + mib / 4);
        EXPECT_LE(computed(processor), activations(card) + mib / 4 +
                                           mib * std::max(1U, std::thread::hardware_concurrency()));
    };
    expect_equal_but_for_scratch(on_card[1], on_processor[1]);  // texts are fp32 anywhere
    EXPECT_LT(activations(on_card[2]), computed(on_processor[2])) << "the autoencoder";
    const auto forced = plans({"--compute", "cuda:0", "--force-fp32"});
    expect_equal_but_for_scratch(forced[0], on_processor[0]);
}

TEST_F(PlanOfAFile, ActivationsGrowWithThePicture) {
    const auto small = plans({"--width", "256", "--height", "256"});
    const auto large = plans({"--width", "1024", "--height", "1024"});
    EXPECT_GT(activations(large[0]), 10 * activations(small[0]));
    EXPECT_EQ(activations(large[1]), activations(small[1]));
    EXPECT_GT(activations(large[2]), 10 * activations(small[2]));
    EXPECT_EQ(activations(plans({"--activation", "3mb"})[0]), 3U << 20U);
}

TEST_F(PlanCommand, ListedBlocksMaySayWhatTheyNeedBesideTheWeights) {
    const auto block = [](const char* name, std::uint64_t needs) {
        return Json{{"name", name}, {"bytes", 1024}, {"activation_bytes", needs}};
    };
    const Json list{{"blocks", {block("a", 5), block("b", 1 << 20), block("c", 7)}}};
    blocks_ = folder_.write("needy.json", list.dump()).string();
    EXPECT_EQ(document({}).at("activation_bytes"), 1 << 20);
}

/// The plan of the demo workflow.
class PlanOfTheDemo : public ::testing::Test {
protected:
    static Outcome plan(std::vector<std::string> more, const std::string& command = "plan") {
        more.insert(more.begin(), {command, in_repository("data/demo/workflow.json").string(),
                                   "--models", in_repository("data/demo/models").string()});
        if (command == "run") more.emplace_back("--dry-run");
        return run_program(more);
    }
    static std::vector<std::string> on(const std::string& profile,
                                       std::vector<std::string> more = {}) {
        more.insert(more.begin(),
                    {"--simulate", in_repository("profiles/" + profile + ".json").string()});
        return more;
    }
    static Json document(std::vector<std::string> more, int status = 0) {
        more.emplace_back("--json");
        const auto outcome = plan(more);
        EXPECT_EQ(outcome.status, status) << outcome.err;
        return Json::parse(outcome.out);
    }

    TemporaryFolder folder_;
};

TEST_F(PlanOfTheDemo, NamesItsModelsInTheOrderInWhichTheyAreUsed) {
    const auto made = document(on("rtx-4090-64gb"));
    ASSERT_EQ(made.at("models").size(), 3U);
    const std::vector<std::string> order{"text", "unet", "vae"};
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto& model = made.at("models").at(i);
        EXPECT_EQ(model.at("name"), "ballast-demo.safetensors (" + order[i] + ")");
        for (const auto* key :
             {"node", "used_by", "evicted", "assumed_shape", "shape", "compute", "mode", "blocks",
              "homes", "quotas", "ring_bytes", "activation_bytes", "bytes_per_step", "expected",
              "fits", "shortfall", "warnings", "explanation", "plan"})
            EXPECT_TRUE(model.contains(key)) << key;
        EXPECT_EQ(model.at("compute"), "cuda:0");
        EXPECT_EQ(model.at("evicted"), Json::array());
        EXPECT_EQ(model.at("node"), "4");
        sum += model.at("homes").at("cuda:0").get<std::uint64_t>();
    }
    EXPECT_EQ(made.at("models").at(1).at("shape").at("width"), 128);
    EXPECT_EQ(made.at("homes"), (Json{{"cuda:0", sum}})) << "all three at once";
    EXPECT_TRUE(made.at("fits").get<bool>());
    EXPECT_FALSE(made.contains("error"));
}

TEST_F(PlanOfTheDemo, IsWhatADryRunPrints) {
    for (const auto* profile : {"rtx-4090-64gb", "gtx-1650-4gb-16gb", "container-8gb-cpu"}) {
        const auto dry = plan(on(profile, {"--json"}), "run");
        EXPECT_EQ(dry.status, 0) << dry.err;
        EXPECT_EQ(Json::parse(dry.out), document(on(profile))) << profile;
    }
}

TEST_F(PlanOfTheDemo, FollowsChangedInputs) {
    const auto small = document(on("rtx-4090-64gb"));
    const auto large = document(on("rtx-4090-64gb", {"--set", "5.width=1024"}));
    EXPECT_GT(large.at("models").at(1).at("activation_bytes"),
              small.at("models").at(1).at("activation_bytes"));
    EXPECT_EQ(plan({"--set", "5.widht=1024"}).status, 2);
    const auto refused = plan({"--set", "3.model=[\"44\",0]"});
    EXPECT_EQ(refused.status, 3);
    EXPECT_THAT(refused.err, HasSubstr("44"));
}

TEST_F(PlanOfTheDemo, AnAllocationIsForItsNetwork) {
    const auto made =
        document(on("rtx-4090-64gb", {"--allocation", "cuda:0,1mb;cpu,*", "--explain"}));
    EXPECT_EQ(made.at("models").at(1).at("mode"), "bytes");
    EXPECT_TRUE(made.at("models").at(1).at("homes").contains("cpu"));
    EXPECT_EQ(made.at("models").at(0).at("mode"), "auto");
    const auto virtual_text =
        document(on("rtx-4090-64gb", {"--virtual-vram", "0.001", "--compute", "cuda:0"}));
    EXPECT_EQ(virtual_text.at("models").at(1).at("mode"), "virtual");
    EXPECT_EQ(plan({"--allocation", "cuda:9,1mb"}).status, 2);
}

TEST_F(PlanOfTheDemo, OffersTheDevicesOfTheMachine) {
    auto workflow = Json::parse(content_of(in_repository("data/demo/workflow.json")));
    workflow["4"]["class_type"] = "CheckpointLoaderSimpleMultiGPU";
    workflow["4"]["inputs"]["device"] = "cuda:1";
    const auto file = folder_.write("w.json", workflow.dump()).string();
    const auto call = [&](const std::string& command, const std::string& profile) {
        return run_program({command, file, "--models", in_repository("data/demo/models").string(),
                            "--simulate", in_repository("profiles/" + profile).string(), "--json",
                            command == "run" ? "--dry-run" : "--explain"});
    };
    for (const std::string command : {"plan", "run"}) {
        const auto two = call(command, "rtx-3090-24gb-rtx-3060-12gb.json");
        ASSERT_EQ(two.status, 0) << two.err;
        for (const auto& model : Json::parse(two.out).at("models"))
            EXPECT_EQ(model.at("compute"), "cuda:1");
        EXPECT_EQ(call(command, "rtx-4090-64gb.json").status, 3) << "it has one card";
    }
}

TEST_F(PlanOfTheDemo, TellsWhatDoesNotFit) {
    const std::vector<std::string> options{"--set",          "5.width=16384", "--set",
                                           "5.height=16384", "--set",         "5.batch_size=64"};
    const auto made = document(on("gtx-1650-4gb-16gb", options), 4);
    EXPECT_FALSE(made.at("fits").get<bool>());
    EXPECT_GT(made.at("shortfall").at("cuda:0").at("missing"), 0);
    EXPECT_EQ(made.at("error").at("code"), "does_not_fit");
    for (const std::string command : {"plan", "run"}) {
        const auto outcome = plan(on("gtx-1650-4gb-16gb", options), command);
        EXPECT_EQ(outcome.status, 4);
        EXPECT_THAT(outcome.err, HasSubstr("ballast-demo.safetensors (unet) on"));
        EXPECT_THAT(outcome.err, HasSubstr("missing"));
        EXPECT_THAT(outcome.out, HasSubstr("2. ballast-demo.safetensors (unet) for node 3"));
    }
}

TEST_F(PlanOfTheDemo, IsDrawnInGroups) {
    const auto chart = (folder_ / "chart.svg").string();
    EXPECT_EQ(plan(on("rtx-4090-64gb", {"--chart", chart})).status, 0);
    const auto svg = content_of(chart);
    for (const auto* part : {"(unet)<", "(text)<", "(vae)<", ">models above<"})
        EXPECT_THAT(svg, HasSubstr(part));
    const auto workflow = in_repository("data/demo/workflow.json").string();
    EXPECT_EQ(plan({"--chart", workflow}).status, 2) << "it would be replaced";
}

TEST_F(PlanOfTheDemo, RefusesOptionsThatAWorkflowSpeaksOfItself) {
    for (const auto* option : {"--width", "--height", "--batch", "--frames", "--activation"}) {
        const auto outcome = plan({option, "64"});
        EXPECT_EQ(outcome.status, 2);
        EXPECT_THAT(outcome.err, HasSubstr(option));
    }
    EXPECT_EQ(plan({"--text-encoder"}).status, 2);
    EXPECT_EQ(plan({"--placement", "distorch2"}).status, 2);
    EXPECT_EQ(plan({"--compute", "cpu"}).status, 2);
}

TEST_F(PlanOfTheDemo, KnowsAWorkflowByItsContent) {
    const auto models = in_repository("data/demo/models").string();
    const auto workflow = content_of(in_repository("data/demo/workflow.json"));
    for (const auto& text : {workflow, "\xef\xbb\xbf\n " + workflow}) {
        const auto file = folder_.write("named.safetensors", text).string();
        EXPECT_EQ(run_program({"plan", file, "--models", models}).status, 0);
    }
    const auto piped = run_program({"plan", "-", "--models", models},
                                   {.standard_input = in_repository("data/demo/workflow.json")});
    EXPECT_EQ(piped.status, 0) << piped.err;
    const auto list = folder_.write("list.json", R"({"blocks":[{"name":"a","bytes":5}]})").string();
    const auto refused = run_program({"plan", list});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("--blocks"));
    const auto text = folder_.write("notes.txt", "some words").string();
    EXPECT_THAT(run_program({"plan", text}).err, HasSubstr("not a weight file"));
    EXPECT_THAT(run_program({"plan", folder_.write("b.json", "{broken").string()}).err,
                HasSubstr("line 1"));
    EXPECT_EQ(run_program({"plan", "/nowhere.json"}).status, 3);
}

TEST_F(PlanOfTheDemo, LoadsNothingWhereNoModelIsUsed) {
    const Json workflow{
        {"1",
         {{"class_type", "EmptyImage"},
          {"inputs", {{"width", 8}, {"height", 8}, {"batch_size", 1}, {"color", 0}}}}},
        {"2", {{"class_type", "PreviewImage"}, {"inputs", {{"images", {"1", 0}}}}}}};
    const auto file = folder_.write("w.json", workflow.dump()).string();
    const auto chart = (folder_ / "chart.svg").string();
    const auto outcome =
        run_program({"plan", file, "--models", folder_.path().string(), "--chart", chart});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("no model is loaded"));
}

}  // namespace
}  // namespace ballast::testing
