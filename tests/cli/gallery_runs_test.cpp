// The demo on every described machine: the same picture, placed as planned, within what the machine
// has.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/cli/demo_run.hpp"

namespace ballast::testing {
namespace {

using nlohmann::json;

/// Machines whose only accelerator nothing can be stored on.
const std::set<std::string> kWithoutStorage{"ascend-910b-64gb", "cambricon-mlu370-x8-48gb",
                                            "corex-bi-v150-32gb", "windows-directml-rx-6800"};

void expect_kept(const json& devices) {
    std::uint64_t planned = 0;
    for (const auto& [name, device] : devices.items()) {
        EXPECT_EQ(device.at("planned"), device.at("realised")) << name;
        ASSERT_TRUE(device.at("limit").is_number()) << name << ": the machine has no more";
        EXPECT_LE(device.at("peak"), device.at("limit")) << name;
        planned += device.at("planned").get<std::uint64_t>();
    }
    EXPECT_GT(planned, 0U);
}

bool names_as_unused(const json& warnings) {
    return std::ranges::any_of(warnings, [](const json& warning) {
        return warning.get<std::string>().find(":0 is not used: ") != std::string::npos;
    });
}

TEST(GalleryRuns, EveryMachineDrawsThePictureOfThisOne) {
    const std::vector<std::string> short_run{"--set", "3.steps=4"};
    const auto plain = run_demo(short_run);
    ASSERT_EQ(plain.outcome.status, 0) << plain.outcome.err;
    std::set<std::string> computing;
    int machines = 0;
    for (const auto& file : std::filesystem::directory_iterator(in_repository("profiles"))) {
        if (file.path().extension() != ".json") continue;
        const auto name = file.path().stem().string();
        SCOPED_TRACE(name);
        ++machines;
        auto words = short_run;
        words.insert(words.end(), {"--simulate", file.path().string()});
        const auto simulated = run_demo(words);
        ASSERT_EQ(simulated.outcome.status, 0) << simulated.outcome.err;
        EXPECT_EQ(simulated.report.at("status"), "success");
        EXPECT_TRUE(simulated.report.at("simulated").get<bool>());
        EXPECT_TRUE(simulated.picture == plain.picture) << "the picture differs";
        expect_kept(simulated.report.at("devices"));
        ASSERT_EQ(simulated.report.at("models").size(), 3U);
        for (const auto& model : simulated.report.at("models")) {
            computing.insert(model.at("compute").get<std::string>());
            if (kWithoutStorage.contains(name)) {
                EXPECT_EQ(model.at("compute"), "cpu");
            }
        }
        EXPECT_EQ(names_as_unused(simulated.report.at("warnings")), kWithoutStorage.contains(name))
            << simulated.report.at("warnings");
    }
    EXPECT_GT(machines, 40);
    EXPECT_TRUE(computing.contains("cuda:0") && computing.contains("mps")) << "not all on one";
}

TEST(GalleryRuns, WaitForRealTimeWhenAsked) {
    const auto at_once = run_demo({"--simulate", machine_profile("gtx-1650-4gb-16gb")});
    const auto waiting =
        run_demo({"--simulate", machine_profile("gtx-1650-4gb-16gb"), "--clock", "real"});
    ASSERT_EQ(waiting.outcome.status, 0) << waiting.outcome.err;
    EXPECT_EQ(waiting.report.at("status"), "success");
    EXPECT_TRUE(waiting.picture == at_once.picture) << "the picture differs";
    EXPECT_EQ(waiting.report.at("devices").at("cuda:0").at("realised"),
              at_once.report.at("devices").at("cuda:0").at("realised"));
}

}  // namespace
}  // namespace ballast::testing
