// Odd wishes about placement, at the command line.

#include <gtest/gtest.h>

#include "tests/cli/demo_run.hpp"

namespace ballast::testing {
namespace {

using nlohmann::json;

constexpr auto kTwoCards = "rtx-3090-24gb-rtx-3060-12gb";

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class PlacementFaults : public ::testing::Test {
protected:
    /// `plan` and `run` of the demo; both are refused alike.
    void expect_refused(const std::vector<std::string>& more, int status,
                        const std::vector<std::string>& parts) const {
        for (const std::string command : {"plan", "run"}) {
            const auto outcome = call(command, more);
            EXPECT_EQ(outcome.status, status) << command << outcome.err;
            for (const auto& part : parts)
                EXPECT_TRUE(has(outcome.err, part)) << command << ' ' << part << '\n'
                                                    << outcome.err;
        }
        EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
    }
    [[nodiscard]] Outcome call(const std::string& command,
                               const std::vector<std::string>& more) const {
        std::vector<std::string> words{command, in_repository("data/demo/workflow.json").string(),
                                       "--models", in_repository("data/demo/models").string()};
        if (command == "run") words.insert(words.end(), {"--output", (folder_ / "out").string()});
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words);
    }

    TemporaryFolder folder_;
};

TEST_F(PlacementFaults, ADeviceThatVanishedIsNamedWithThoseThatAreThere) {
    expect_refused(
        {"--simulate", machine_profile(kTwoCards), "--allocation", "cuda:0,1mb;cuda:3,1mb;cpu,*"},
        2, {"cuda:3", "column 12", "cuda:1", "hint: "});
}

TEST_F(PlacementFaults, AMachineWithoutAcceleratorHasOnlyItsProcessor) {
    expect_refused({"--simulate", machine_profile("cpu-32gb"), "--allocation", "cuda:0,1mb;cpu,*"},
                   2, {"cuda:0", "hint: "});
    const auto all = run_demo({"--simulate", machine_profile("cpu-32gb"), "--allocation", "cpu,*"});
    ASSERT_EQ(all.outcome.status, 0) << all.outcome.err;
    EXPECT_EQ(all.report.at("models").at(1).at("compute"), "cpu");
}

TEST_F(PlacementFaults, ALimitOfADeviceThatIsNotThereIsRefused) {
    expect_refused({"--simulate", machine_profile("cpu-32gb"), "--memory-limit", "cuda:0=1gb"}, 2,
                   {"there is no device cuda:0", "present: cpu"});
}

TEST_F(PlacementFaults, AnAllocationHasAtMost64Entries) {
    // more devices than anybody has: each may be named once
    json devices = json::array();
    for (int i = 0; i < 64; ++i)
        devices.push_back({{"id", "cuda:" + std::to_string(i)},
                           {"vendor", "nvidia"},
                           {"total", 8ULL << 30U},
                           {"free", 8ULL << 30U},
                           {"integrated", 0}});
    const json machine{{"host", {{"total", 64ULL << 30U}, {"available", 60ULL << 30U}}},
                       {"devices", devices}};
    const auto file = folder_.write("machine.json", machine.dump()).string();
    const auto with = [&](int entries) {
        std::string text = "cpu,*";
        for (int i = 0; i < entries - 1; ++i) text += ";cuda:" + std::to_string(i) + ",100kb";
        return std::vector<std::string>{"--simulate", file, "--allocation", text};
    };
    const auto run = run_demo(with(64));
    EXPECT_EQ(run.outcome.status, 0) << run.outcome.out.substr(0, 500);
    EXPECT_EQ(call("plan", with(64)).status, 0);
    expect_refused(with(65), 2, {"more than 64 entries", "hint: "});
}

TEST_F(PlacementFaults, AnAllocationHasAtMost4096Characters) {
    const auto with = [](std::size_t characters) {
        std::string text = "cuda:0,1mb;cpu,*";
        text.insert(text.find(';'), characters - text.size(), ' ');
        return std::vector<std::string>{"--simulate", machine_profile(kTwoCards), "--allocation",
                                        text};
    };
    const auto run = run_demo(with(4096));
    EXPECT_EQ(run.outcome.status, 0) << run.outcome.out.substr(0, 500);
    EXPECT_EQ(call("plan", with(4096)).status, 0);
    expect_refused(with(4097), 2, {"4096", "hint: "});
}

TEST_F(PlacementFaults, NothingAnywhereIsRefusedUnlessSomebodyTakesTheRest) {
    const auto with = [](const std::string& text) {
        return std::vector<std::string>{"--simulate", machine_profile(kTwoCards), "--allocation",
                                        text};
    };
    expect_refused(with("cuda:0,0;cuda:1,0;cpu,0"), 2, {"every amount is zero", "cpu,*"});
    const auto run = run_demo(with("cuda:0,0;cuda:1,0;cpu,*"));
    ASSERT_EQ(run.outcome.status, 0) << run.outcome.out;
    const auto& network = run.report.at("models").at(1);
    EXPECT_EQ(network.at("compute"), "cuda:0");
    EXPECT_FALSE(network.at("homes").contains("cuda:1")) << network;
    EXPECT_GT(network.at("homes").at("cpu"), network.at("homes").at("cuda:0")) << network;
}

TEST_F(PlacementFaults, ABlockLargerThanAnyDeviceHasNoPlace) {
    const json list{{"file_backed", false},
                    {"blocks",
                     {{{"name", "small"}, {"bytes", 1024}},
                      {{"name", "huge"}, {"bytes", std::uint64_t{1} << 40U}}}}};
    const auto file = folder_.write("blocks.json", list.dump()).string();
    const auto refused =
        run_program({"plan", "--blocks", file, "--simulate", machine_profile(kTwoCards)});
    EXPECT_EQ(refused.status, 4);
    for (const auto* part : {"needed 1.00 TiB", "missing", "hint: "})
        EXPECT_TRUE(has(refused.err, part)) << part << '\n' << refused.err;
}

}  // namespace
}  // namespace ballast::testing
