// `ballast devices` and `ballast doctor` as a user calls them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

std::string profile(const std::string& name) {
    return in_repository("profiles/" + name + ".json").string();
}

Json devices_of(std::vector<std::string> more) {
    more.insert(more.begin(), {"devices", "--json"});
    const auto outcome = run_program(more);
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return Json::parse(outcome.out);
}

TEST(Devices, ListsThisMachineWithTheProcessorFirst) {
    const auto document = devices_of({});
    const auto& cpu = document.at("devices").at(0);
    EXPECT_EQ(cpu.at("id"), "cpu");
    EXPECT_EQ(cpu.at("class"), "NONE");
    EXPECT_EQ(cpu.at("vram_state"), "DISABLED");
    EXPECT_EQ(cpu.at("soft_empty"), "nothing");
    EXPECT_GT(document.at("host").at("total").get<std::uint64_t>(), 0U);
    EXPECT_LT(cpu.at("weights_now").get<std::uint64_t>(), cpu.at("free").get<std::uint64_t>());
    EXPECT_FALSE(document.at("simulated").get<bool>());
}

TEST(Devices, HasEveryDocumentedKey) {
    const auto document = devices_of({"--simulate", profile("dgx-spark-gb10-128gb")});
    for (const auto* key : {"host", "devices", "links", "warnings"})
        EXPECT_TRUE(document.contains(key)) << key;
    const auto& device = document.at("devices").at(1);
    for (const auto* key :
         {"id", "name", "class", "rule", "vram_state", "total", "free", "free_source", "reserve",
          "budget", "weights_now", "pinned_limit", "streams", "choices", "soft_empty"})
        EXPECT_TRUE(device.contains(key)) << key;
    for (const auto* key : {"unet_offload", "unet_initial", "text_encoder", "text_encoder_offload",
                            "vae", "vae_offload", "intermediate"})
        EXPECT_EQ(device.at("choices").at(key), "cuda:0") << key;
    EXPECT_EQ(device.at("class"), "UNIFIED");
    EXPECT_EQ(device.at("rule"), "D3");
    EXPECT_EQ(device.at("vram_state"), "HIGH");
    EXPECT_EQ(device.at("free_source"), "MemAvailable");
}

TEST(Devices, ObeysTheMemoryFlags) {
    const auto device = [](std::vector<std::string> flags) {
        flags.insert(flags.begin(), {"--simulate", profile("rtx-4090-64gb")});
        return devices_of(flags).at("devices").at(1);
    };
    EXPECT_EQ(device({"--lowvram"}).at("vram_state"), "LOW");
    EXPECT_EQ(device({"--lowvram"}).at("choices").at("text_encoder"), "cpu");
    EXPECT_EQ(device({"--cpu"}).at("class"), "NONE");
    EXPECT_EQ(device({"--memory-class", "cuda:0=unified"}).at("rule"), "D0");
    EXPECT_EQ(device({"--reserve-vram", "3"}).at("reserve"), 3ULL << 30U);
    EXPECT_EQ(device({"--disable-pinned-memory"}).at("pinned_limit"), 0);
    EXPECT_EQ(device({"--gpu-only"}).at("choices").at("intermediate"), "cuda:0");
}

TEST(Devices, SpeaksToPeopleToo) {
    const auto outcome =
        run_program({"devices", "--simulate", profile("strix-halo-96gb-carve-out")});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, HasSubstr("PARTITIONED (rule D4)"));
    EXPECT_THAT(outcome.out, HasSubstr("(simulated)"));
}

TEST(Devices, RefusesWhatItCannotUse) {
    TemporaryFolder folder;
    const auto broken = folder.path() / "broken.json";
    std::ofstream(broken) << R"({"devices": [{"id": "cuda:0", "total": -5}]})";
    const auto bad = run_program({"devices", "--simulate", broken.string()});
    EXPECT_EQ(bad.status, 3);
    EXPECT_THAT(bad.err, HasSubstr("devices[0].total"));
    EXPECT_THAT(bad.err, HasSubstr("hint:"));
    EXPECT_EQ(run_program({"devices", "--simulate", "nowhere.json"}).status, 3);
    EXPECT_EQ(run_program({"devices", "--lowvram", "--highvram"}).status, 2);
    EXPECT_EQ(run_program({"devices", "--reserve-vram", "lots"}).status, 2);
    EXPECT_EQ(run_program({"devices", "operand"}).status, 2);
    const auto json = run_program({"devices", "--json", "--simulate", broken.string()});
    EXPECT_EQ(Json::parse(json.out).at("error").at("where").at("key"), "devices[0].total");
}

TEST(Doctor, ExplainsThisMachine) {
    const auto outcome = run_program({"doctor"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("cpu: weights may take"));
    EXPECT_THAT(outcome.out, HasSubstr("processor: "));
}

TEST(Doctor, SavesAProfileThatSimulatesTheSame) {
    TemporaryFolder folder;
    const auto saved = (folder.path() / "machine.json").string();
    ASSERT_EQ(run_program({"doctor", "--simulate", profile("gh200-480gb"), "--save", saved}).status,
              0);
    EXPECT_EQ(devices_of({"--simulate", saved}).at("devices"),
              devices_of({"--simulate", profile("gh200-480gb")}).at("devices"));
    EXPECT_EQ(run_program({"doctor", "--save", "/nowhere/at/all.json"}).status, 3);
}

TEST(Doctor, GivesItsFindingsAsJson) {
    const auto outcome =
        run_program({"doctor", "--json", "--simulate", profile("container-8gb-rtx-4090")});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto findings = Json::parse(outcome.out).at("findings");
    EXPECT_TRUE(std::ranges::any_of(
        findings, [](const Json& finding) { return finding.at("topic") == "container"; }));
    for (const auto& finding : findings)
        for (const auto* key : {"verdict", "topic", "text", "remedy"})
            EXPECT_TRUE(finding.contains(key)) << key;
}

TEST(Doctor, MeasuresWhenAsked) {
    TemporaryFolder folder;
    std::ofstream(folder.path() / "model.bin", std::ios::binary)
        << std::string(std::size_t{3} << 20U, 'x');
    const auto outcome =
        run_program({"doctor", "--probe", "--json", "--models", folder.path().string()});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto probe = Json::parse(outcome.out).at("probe");
    EXPECT_GT(probe.at("copy_gbps").get<double>(), 0);
    EXPECT_GT(probe.at("disk").at("gbps").get<double>(), 0);
    EXPECT_EQ(run_program({"doctor", "--probe", "--simulate", profile("cpu-32gb")}).status, 2);
}

}  // namespace
}  // namespace ballast::testing
