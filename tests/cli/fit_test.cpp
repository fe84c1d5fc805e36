// What a run does about a workflow that does not fit: the plan says so before anything begins.

#include <gtest/gtest.h>

#include <regex>

#include "tests/cli/demo_run.hpp"

namespace ballast::testing {
namespace {

using nlohmann::json;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

class Fit : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path output() const { return folder_ / "out"; }
    /// A library that cannot be opened: who refuses with another status did not come so far.
    [[nodiscard]] std::string no_library() const {
        return folder_.write("none.so", "no library at all").string();
    }

    [[nodiscard]] json plan(const std::vector<std::string>& more) const {
        const auto words =
            joined({"plan", in_repository("data/demo/workflow.json").string(), "--models",
                    in_repository("data/demo/models").string(), "--json"},
                   more);
        return json::parse(run_program(words).out);
    }

    /// Status 4, with nothing opened and nothing made, and as the dry run says it.
    Outcome expect_refused(const std::vector<std::string>& more) const {
        const auto run =
            run_program(joined(demo(output(), {"--runtime-library", no_library()}), more));
        EXPECT_EQ(run.status, 4) << run.err;
        EXPECT_EQ(run.out, "");
        EXPECT_FALSE(std::filesystem::exists(output()));
        const auto dry = run_program(joined(demo(output(), {"--dry-run"}), more));
        EXPECT_EQ(dry.status, 4);
        EXPECT_EQ(dry.err, run.err);
        return run;
    }

    /// What the hint says to add to the call; empty where it names no limits.
    static std::vector<std::string> limits_in(const std::string& hint) {
        static const std::regex option("--memory-limit ([a-z]+(?::[0-9]+)?=[0-9]+)");
        std::vector<std::string> words;
        for (std::sregex_iterator found(hint.begin(), hint.end(), option), end; found != end;
             ++found)
            words.insert(words.end(), {"--memory-limit", (*found)[1]});
        return words;
    }

    TemporaryFolder folder_;
};

TEST_F(Fit, IsRefusedBeforeAnythingIsOpenedOrMade) {
    const auto refused = expect_refused({"--memory-limit", "cpu=2mb"});
    for (const auto* part : {"node 4", "ballast-demo.safetensors (vae) on cpu: needed ",
                             "available 2.00 MiB", "missing ", "hint: raise the limit with"})
        EXPECT_TRUE(has(refused.err, part)) << part << '\n' << refused.err;
    const auto document = run_demo({"--memory-limit", "cpu=2mb"}).report;
    EXPECT_EQ(document.at("error").at("code"), "does_not_fit");
    EXPECT_EQ(document.at("error").at("where").at("node"), "4");
    EXPECT_GT(document.at("error").at("shortfall").at("cpu").at("missing"), 0);
}

TEST_F(Fit, TheRemedyIsTheSmallestLimitAndIsEnough) {
    const auto hint = expect_refused({"--memory-limit", "cpu=2mb"}).err;
    const auto words = limits_in(hint);
    ASSERT_EQ(words.size(), 2U) << hint;
    const auto bytes = std::stoull(words[1].substr(words[1].find('=') + 1));
    EXPECT_TRUE(plan({words}).at("fits").get<bool>());
    const auto less = "cpu=" + std::to_string(bytes - 1);
    EXPECT_FALSE(plan({"--memory-limit", less}).at("fits").get<bool>());
    const auto run = run_demo(words);
    ASSERT_EQ(run.outcome.status, 0) << run.outcome.out;
    EXPECT_LE(run.report.at("devices").at("cpu").at("peak").get<std::uint64_t>(), bytes);
    EXPECT_TRUE(run.picture == run_demo().picture) << "the picture differs";
}

TEST_F(Fit, TheRemedyNamesEveryDeviceThatIsLimited) {
    const std::vector<std::string> call{"--simulate", machine_profile("rtx-4090-64gb"),
                                        "--allocation", "cuda:0,2mb;cpu,*"};
    const auto hint =
        expect_refused(joined(call, {"--memory-limit", "cuda:0=1mb", "--memory-limit", "cpu=1mb"}))
            .err;
    const auto words = limits_in(hint);
    ASSERT_EQ(words.size(), 4U) << hint;
    const auto run = run_demo(joined(call, words));
    EXPECT_EQ(run.outcome.status, 0) << run.outcome.out;
}

TEST_F(Fit, WhereNoLimitIsTheCauseNoneIsProposed) {
    const std::vector<std::string> large{"--simulate", machine_profile("gtx-1650-4gb-16gb"),
                                         "--set",      "5.width=16384",
                                         "--set",      "5.height=16384",
                                         "--set",      "5.batch_size=64"};
    const auto refused = expect_refused(large);
    EXPECT_TRUE(has(refused.err, "hint: use smaller pictures")) << refused.err;
    EXPECT_TRUE(limits_in(refused.err).empty()) << refused.err;
    // a limit beyond what the machine has is not the cause either
    const auto limited = expect_refused(
        joined(large, {"--memory-limit", "cuda:0=400gb", "--memory-limit", "cpu=400gb"}));
    EXPECT_TRUE(limits_in(limited.err).empty()) << limited.err;
}

TEST_F(Fit, WeightsThatDoNotFitStreamFromTheirFile) {
    // the weights alone are 5.4 MiB, and a step of the autoencoder needs 6.3 MiB beside them
    const auto run = run_demo({"--memory-limit", "cpu=8mb"});
    ASSERT_EQ(run.outcome.status, 0) << run.outcome.out;
    EXPECT_TRUE(run.picture == run_demo().picture) << "the picture differs";
    const auto& autoencoder = run.report.at("models").at(2);
    EXPECT_GT(autoencoder.at("homes").at("disk"), 0) << autoencoder;
    EXPECT_LE(run.report.at("devices").at("cpu").at("peak").get<std::uint64_t>(), 8U << 20U);
}

TEST_F(Fit, SmallerCallsArePlannedAndTaken) {
    const std::vector<std::string> many{"--set", "5.batch_size=16", "--set", "3.steps=1"};
    const auto roomy = plan(many).at("models").at(1);
    EXPECT_EQ(roomy.at("shape").at("sides"), 2);
    // too little for both texts, whose blocks would have to stream through a ring
    const auto limit =
        "cpu=" + std::to_string(roomy.at("activation_bytes").get<std::uint64_t>() + (128U << 10U));
    const auto limited = joined(many, {"--memory-limit", limit});
    const auto network = plan(limited).at("models").at(1);
    EXPECT_TRUE(network.at("fits").get<bool>());
    EXPECT_EQ(network.at("shape").at("sides"), 1);
    EXPECT_TRUE(has(network.at("warnings").dump(), "with one text at a time"));
    const auto run = run_demo(limited);
    ASSERT_EQ(run.outcome.status, 0) << run.outcome.out;
    EXPECT_TRUE(has(run.report.at("warnings").dump(), "with one text at a time"));
}

TEST_F(Fit, WhatPicturesDecideThatNobodyHasSeenIsLeftToTheRun) {
    ASSERT_EQ(run_program(demo(folder_ / "in", {"--set", "3.steps=1"})).status, 0);
    auto workflow = json::parse(content_of(in_repository("data/demo/workflow.json")));
    workflow["10"] = {{"class_type", "LoadImage"},
                      {"inputs", {{"image", "ballast-demo_00001_.png"}}}};
    workflow["5"] = {{"class_type", "VAEEncode"},
                     {"inputs", {{"pixels", {"10", 0}}, {"vae", {"4", 2}}}}};
    const auto file = folder_.write("w.json", workflow.dump());
    const std::vector<std::string> limited{
        "--input", (folder_ / "in").string(), "--memory-limit", "cpu=16mb", "--set", "3.steps=1"};
    const auto run = run_demo(file, in_repository("data/demo/models"), limited);
    EXPECT_EQ(run.outcome.status, 0) << run.outcome.out << run.outcome.err;
    EXPECT_TRUE(has(run.report.at("warnings").dump(), "pictures of 512 x 512 would not fit"))
        << run.report.at("warnings");
}

TEST_F(Fit, AcceleratorsThatTheRuntimeDoesNotDriveAreLeftOutOfThePlan) {
    const std::vector<std::string> call{"--runtime-library", BALLAST_FAKE_RUNTIME, "--simulate",
                                        machine_profile("rtx-3090-24gb-rtx-3060-12gb")};
    constexpr auto kUnused = "cuda:0 is not used: libtorch here computes on the processor only";
    const auto roomy = run_program(demo(output(), call));
    EXPECT_TRUE(has(roomy.err, "this runtime runs nothing")) << "it would run: " << roomy.err;
    const auto said = roomy.err.find(kUnused);
    ASSERT_NE(said, std::string::npos) << roomy.err;
    EXPECT_EQ(roomy.err.find(kUnused, said + 1), std::string::npos) << "once: " << roomy.err;
    EXPECT_TRUE(has(roomy.err, "cuda:1 is not used")) << roomy.err;
    std::filesystem::remove_all(output());

    // on the cards it would fit
    const auto small = run_program(demo(output(), joined(call, {"--memory-limit", "cpu=2mb"})));
    EXPECT_EQ(small.status, 4) << small.err;
    EXPECT_TRUE(has(small.err, "(vae) on cpu: needed ")) << small.err;
    EXPECT_FALSE(limits_in(small.err).empty()) << small.err;
    EXPECT_FALSE(std::filesystem::exists(output()));
}

}  // namespace
}  // namespace ballast::testing
