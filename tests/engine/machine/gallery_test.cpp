// Every machine of the gallery loads without a warning and is judged as its maker's facts demand.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "ballast/engine/machine/assessment.hpp"
#include "ballast/engine/machine/profile_json.hpp"

namespace ballast::machine {
namespace {

namespace fs = std::filesystem;

const fs::path kProfiles = fs::path(BALLAST_SOURCE_DIR) / "profiles";

nlohmann::json expectations() {
    std::ifstream file(fs::path(BALLAST_TEST_DATA) / "engine" / "machine" / "gallery.json");
    return nlohmann::json::parse(file);
}

TEST(Gallery, EveryProfileIsExpectedAndEveryExpectationHasAProfile) {
    std::set<std::string> files;
    for (const auto& entry : fs::directory_iterator(kProfiles))
        if (entry.path().extension() == ".json") files.insert(entry.path().filename().string());
    EXPECT_GE(files.size(), 20U);
    std::set<std::string> expected;
    const auto all = expectations();
    for (const auto& [name, ignored] : all.items()) expected.insert(name);
    EXPECT_EQ(files, expected);
}

TEST(Gallery, EveryDeviceIsJudgedAsExpected) {
    const auto all = expectations();
    for (const auto& [file, expected] : all.items()) {
        SCOPED_TRACE(file);
        const auto loaded = load_profile(kProfiles / file);
        ASSERT_TRUE(loaded.has_value()) << to_string(loaded.error());
        EXPECT_TRUE(loaded->warnings.empty()) << loaded->warnings.front();
        EXPECT_FALSE(loaded->profile.name.empty());
        EXPECT_FALSE(loaded->profile.source.empty()) << "figures without a source";
        const auto assessment = assess(loaded->profile, {});
        for (const auto& [id, what] : expected.at("devices").items()) {
            const auto device =
                std::ranges::find(assessment.devices, *parse_device(id), &DeviceAssessment::id);
            ASSERT_NE(device, assessment.devices.end()) << id;
            EXPECT_EQ(to_string(device->classification.memory_class),
                      what.at("class").get<std::string>());
            EXPECT_EQ(device->classification.rule, what.at("rule").get<std::string>());
            EXPECT_EQ(to_string(device->state), what.at("vram_state").get<std::string>());
        }
    }
}

TEST(Gallery, EveryFigureHoldsTogether) {
    for (const auto& entry : fs::directory_iterator(kProfiles)) {
        if (entry.path().extension() != ".json") continue;
        SCOPED_TRACE(entry.path().filename());
        const auto loaded = load_profile(entry.path());
        ASSERT_TRUE(loaded.has_value()) << to_string(loaded.error());
        for (const auto& device : assess(loaded->profile, {}).devices) {
            const Bytes unlimited{std::numeric_limits<std::uint64_t>::max()};
            const auto total = device.total.value_or(unlimited);
            const auto free = device.free.bytes.value_or(unlimited);
            EXPECT_LE(device.free.bytes.value_or(Bytes{}), total);
            EXPECT_LE(device.budget.static_budget.value_or(Bytes{}), total);
            EXPECT_LE(device.budget.weights_now.value_or(Bytes{}), free);
        }
    }
}

}  // namespace
}  // namespace ballast::machine
