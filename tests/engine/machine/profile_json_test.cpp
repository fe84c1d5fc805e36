#include "ballast/engine/machine/profile_json.hpp"

#include <gmock/gmock.h>

#include "tests/engine/machine/machines.hpp"

namespace ballast::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MachineProfile read(std::string_view text) {
    auto loaded = parse_profile(text, "machine.json");
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : to_string(loaded.error()));
    return loaded ? loaded->profile : MachineProfile{};
}

std::vector<std::string> warnings_of(std::string_view text) {
    auto loaded = parse_profile(text, "machine.json");
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : to_string(loaded.error()));
    return loaded ? loaded->warnings : std::vector<std::string>{};
}

Error refusal_of(std::string_view text) {
    auto loaded = parse_profile(text, "machine.json");
    EXPECT_FALSE(loaded.has_value()) << text;
    return loaded ? Error{} : loaded.error();
}

constexpr std::string_view kWhole = R"({
  "name": "two cards", "os": "linux", "os_version": "6.8",
  "host": {"total": 67000000000, "available": 60000000000, "free": 50000000000,
           "cached": 9000000000, "shmem": 1000000, "swap_total": 8, "swap_free": 7,
           "limit": 34359738368, "limit_used": 1000, "copy_gbps": 12.5},
  "devices": [
    {"id": "cuda:0", "name": "NVIDIA GeForce RTX 4090", "vendor": "NVIDIA", "total": 25757220864,
     "free": 25000000000, "integrated": 0,
     "attributes": {"pageable_access": 1, "host_page_tables": 0, "managed": true,
                    "concurrent_managed": null, "direct_managed_host": 0, "own_memory_node": 0},
     "capability": "8.9", "types": ["fp16", "bf16", "fp8"], "tflops": {"fp16": 165.2, "fp32": 82.6},
     "memory_gbps": 1008, "granularity": 2097152, "query_fails": ["free"], "pci": "0000:01:00.0"},
    {"id": "cuda:1", "vendor": "amd", "total": 8, "gtt": 16, "carveout": 4, "working_set": 6,
     "integrated": true, "capability": "gfx1151"}],
  "links": [{"from": "cpu", "to": "cuda:0", "gbps": 25, "latency_us": 10, "shared_with": ["x"]},
            {"from": "cuda:0", "to": "cuda:1", "gbps": 50.5, "peer": true}],
  "storage": {"kind": "nvme", "gbps": 3.0, "latency_us": 80.0},
  "source": ["the makers' data sheets"]})";

TEST(ProfileJson, ReadsEveryMember) {
    EXPECT_THAT(warnings_of(kWhole), IsEmpty());
    const auto profile = read(kWhole);
    EXPECT_EQ(profile.name, "two cards");
    EXPECT_EQ(profile.host.limit, gib(32));
    EXPECT_EQ(profile.host.copy_gbps, 12.5);
    ASSERT_EQ(profile.devices.size(), 2U);
    const auto& card = profile.devices[0];
    EXPECT_EQ(card.vendor, "nvidia");
    EXPECT_EQ(card.integrated, false);
    EXPECT_EQ(card.attributes.managed, true);
    EXPECT_FALSE(card.attributes.concurrent_managed.has_value()) << "null is unknown";
    EXPECT_TRUE(card.fails(Query::free));
    EXPECT_EQ(card.tflops.at("fp32"), 82.6);
    EXPECT_EQ(profile.devices[1].gtt, Bytes{16});
    EXPECT_TRUE(profile.links[1].peer);
    EXPECT_EQ(profile.storage.kind, "nvme");
}

TEST(ProfileJson, WhatIsWrittenReadsBackEqual) {
    const auto profile = read(kWhole);
    EXPECT_EQ(read(to_json_text(profile)), profile);
    EXPECT_EQ(read(to_json_text(MachineProfile{})), MachineProfile{});
}

TEST(ProfileJson, SavesNamesWithBrokenUtf8) {
    MachineProfile profile{.name = "caf\xe9"};
    EXPECT_TRUE(parse_profile(to_json_text(profile), "saved").has_value());
}

TEST(ProfileJson, AbsentAndNullAreUnknown) {
    for (const auto* text :
         {"{}", R"({"host": null, "devices": null, "links": null, "storage": null, "os": null})",
          R"({"host": {"total": null}, "devices": []})"}) {
        const auto profile = read(text);
        EXPECT_FALSE(profile.host.total.has_value());
        EXPECT_THAT(profile.devices, IsEmpty());
        EXPECT_THAT(warnings_of(text), IsEmpty());
    }
}

TEST(ProfileJson, BrokenTextNamesLineAndColumn) {
    const auto error = refusal_of("{\"host\": {\n  \"total\": 12x}}");
    EXPECT_EQ(error.code, Code::corrupt_file);
    EXPECT_THAT(error.why, HasSubstr("line 2, column 14"));
    EXPECT_EQ(error.place.file, "machine.json");
    for (const auto* text : {"", "[]", "7", "\"text\"", "{", "{\"a\":}", "nul", "{} {}", "\xff"}) {
        EXPECT_EQ(refusal_of(text).code, Code::corrupt_file) << text;
        EXPECT_FALSE(refusal_of(text).hint.empty());
    }
    EXPECT_EQ(refusal_of(std::string(100'000, '[')).code, Code::corrupt_file);
    EXPECT_EQ(refusal_of(R"({"host": {"total": 1e999}})").code, Code::corrupt_file);
}

TEST(ProfileJson, AWrongMemberIsNamedByItsPath) {
    struct Row {
        const char* text;
        const char* path;
    };
    for (const auto& row : {
             Row{R"({"host": 5})", "host"},
             Row{R"({"host": {"total": -1}})", "host.total"},
             Row{R"({"host": {"total": 1.5}})", "host.total"},
             Row{R"({"host": {"total": "64gb"}})", "host.total"},
             Row{R"({"host": {"total": 1e30}})", "host.total"},
             Row{R"({"host": {"total": 18446744073709551615}})", "host.total"},
             Row{R"({"host": {"copy_gbps": 0}})", "host.copy_gbps"},
             Row{R"({"host": {"copy_gbps": -3}})", "host.copy_gbps"},
             Row{R"({"devices": {}})", "devices"},
             Row{R"({"devices": [{"id": "cuda:0"}, 7]})", "devices[1]"},
             Row{R"({"devices": [{}]})", "devices[0].id"},
             Row{R"({"devices": [{"id": "gpu0"}]})", "devices[0].id"},
             Row{R"({"devices": [{"id": 0}]})", "devices[0].id"},
             Row{R"({"devices": [{"id": "cuda:0", "total": 0}]})", "devices[0].total"},
             Row{R"({"devices": [{"id": "cuda:0", "integrated": 2}]})", "devices[0].integrated"},
             Row{R"({"devices": [{"id": "cuda:0", "attributes": {"managed": "yes"}}]})",
                 "devices[0].attributes.managed"},
             Row{R"({"devices": [{"id": "cuda:0", "types": "fp16"}]})", "devices[0].types"},
             Row{R"({"devices": [{"id": "cuda:0", "types": [1]}]})", "devices[0].types"},
             Row{R"({"devices": [{"id": "cuda:0", "query_fails": ["colour"]}]})",
                 "devices[0].query_fails"},
             Row{R"({"devices": [{"id": "cuda:0", "tflops": {"fp16": "fast"}}]})",
                 "devices[0].tflops.fp16"},
             Row{R"({"devices": [{"id": "cuda:0", "granularity": 0}]})", "devices[0].granularity"},
             Row{R"({"devices": [{"id": "cuda:0"}], "links": [{"from": "cpu", "to": "cuda:0"}]})",
                 "links[0].gbps"},
             Row{R"({"links": [{"from": "cpu", "gbps": 1}]})", "links[0].to"},
             Row{R"({"os": "beos"})", "os"},
             Row{R"({"name": 7})", "name"},
             Row{R"({"storage": {"gbps": "quick"}})", "storage.gbps"},
         }) {
        const auto error = refusal_of(row.text);
        EXPECT_EQ(error.code, Code::bad_value) << row.text;
        EXPECT_EQ(error.place.key, row.path) << row.text;
        EXPECT_FALSE(error.why.empty());
    }
}

TEST(ProfileJson, DevicesStandOnceAndLinksLeadToThem) {
    const auto twice = refusal_of(R"({"devices": [{"id": "cuda:0"}, {"id": "cuda"}]})");
    EXPECT_EQ(twice.code, Code::bad_workflow);
    EXPECT_EQ(twice.place.key, "devices[1].id");
    EXPECT_THAT(twice.why, HasSubstr("cuda:0 is listed twice"));

    const auto nowhere = refusal_of(
        R"({"devices": [{"id": "cuda:0"}], "links": [{"from": "cpu", "to": "cuda:1", "gbps": 1}]})");
    EXPECT_EQ(nowhere.place.key, "links[0].to");
    EXPECT_THAT(nowhere.why, HasSubstr("cuda:1"));
    EXPECT_EQ(refusal_of(R"({"links": [{"from": "cpu", "to": "cpu", "gbps": 1}]})").place.key,
              "links[0]");
    EXPECT_EQ(refusal_of(R"({"devices": [{"id": "disk"}]})").place.key, "devices[0].id");
    EXPECT_EQ(refusal_of(R"({"devices": [{"id": "cpu"}, {"id": "cpu"}]})").place.key,
              "devices[1].id");
}

TEST(ProfileJson, FreeAboveTotalIsClampedWithAWarning) {
    constexpr auto* kText = R"({"host": {"total": 100, "available": 120, "free": 101},
                                "devices": [{"id": "cuda:0", "total": 50, "free": 60}]})";
    EXPECT_THAT(warnings_of(kText), ElementsAre(HasSubstr("host.available"), HasSubstr("host.free"),
                                                HasSubstr("devices[0].free")));
    const auto profile = read(kText);
    EXPECT_EQ(profile.host.available, Bytes{100});
    EXPECT_EQ(profile.devices[0].free, Bytes{50});
}

TEST(ProfileJson, UnknownKeysAreWarnedOfWithTheNearestName) {
    EXPECT_THAT(warnings_of(R"({"hosst": {}, "devices": [{"id": "cuda:0", "totl": 5}]})"),
                ElementsAre(HasSubstr("devices[0].totl: there is no such key; did you mean "
                                      "\"total\"?"),
                            HasSubstr("hosst: there is no such key; did you mean \"host\"?")));
}

TEST(ProfileJson, TheProcessorMayBeDescribedAsADevice) {
    const auto profile = read(R"({"devices": [{"id": "cpu", "total": 64, "tflops": {"fp32": 1}},
                                              {"id": "cuda:0"}]})");
    EXPECT_EQ(profile.host.total, Bytes{64});
    ASSERT_TRUE(profile.processor.has_value());
    EXPECT_EQ(profile.processor->tflops.at("fp32"), 1);
    EXPECT_EQ(profile.devices.size(), 1U);
    EXPECT_EQ(read(to_json_text(profile)), profile);
}

TEST(ProfileJson, AFileThatIsNotThereSaysSo) {
    const auto missing = load_profile("/nowhere/machine.json");
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().code, Code::not_found);
    EXPECT_EQ(missing.error().what, "cannot use the machine profile");
    EXPECT_FALSE(missing.error().hint.empty());
}

TEST(ProfileJson, SystemsHaveTheirUsualOtherNames) {
    EXPECT_EQ(read(R"({"os": "WSL"})").system, System::wsl2);
    EXPECT_EQ(read(R"({"os": "Darwin"})").system, System::macos);
    EXPECT_EQ(read(R"({"os": "Windows"})").system, System::windows);
}

}  // namespace
}  // namespace ballast::machine
