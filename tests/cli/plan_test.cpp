// `ballast plan` as a user calls it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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
    EXPECT_LT(activations(on_card[0]), activations(on_processor[0]) * 6 / 10) << "the network";
    EXPECT_EQ(activations(on_card[1]), activations(on_processor[1])) << "texts are fp32 anywhere";
    EXPECT_LT(activations(on_card[2]), activations(on_processor[2])) << "the autoencoder";
    const auto forced = plans({"--compute", "cuda:0", "--force-fp32"});
    EXPECT_EQ(activations(forced[0]), activations(on_processor[0]));
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

}  // namespace
}  // namespace ballast::testing
