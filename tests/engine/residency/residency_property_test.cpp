// What holds for loaded models whatever is done in whatever order. A failing case prints its seed,
// what broke, and the shortest sequence of steps that breaks it.

#include <gtest/gtest.h>

#include "tests/engine/residency/property_shrink.hpp"

namespace ballast::residency::property {
namespace {

/// What broke, and how to see it again; nothing if all is well.
std::string report_of(std::uint64_t seed, const Steps& steps, Mistake mistake = Mistake::none) {
    if (!failure_of(seed, steps, mistake)) return {};
    const auto least = shrunk(
        steps, [&](const Steps& fewer) { return failure_of(seed, fewer, mistake).has_value(); });
    return "seed " + std::to_string(seed) + "\n" + failure_of(seed, least, mistake).value() +
           "\nWorld world(" + std::to_string(seed) + ", Mistake::none);\n" + to_string(least);
}

/// So many sequences of a hundred steps.
void expect_no_failure(std::uint64_t first_seed, std::uint64_t count) {
    for (auto seed = first_seed; seed < first_seed + count; ++seed) {
        const auto report = report_of(seed, random_steps(seed, 100));
        ASSERT_TRUE(report.empty()) << report;
    }
}

// four tests, so that they run beside each other: twelve thousand steps in all
TEST(ResidencyProperty, HoldsForTheFirstQuarterOfRandomSteps) { expect_no_failure(0, 30); }
TEST(ResidencyProperty, HoldsForTheSecondQuarterOfRandomSteps) { expect_no_failure(1000, 30); }
TEST(ResidencyProperty, HoldsForTheThirdQuarterOfRandomSteps) { expect_no_failure(2000, 30); }
TEST(ResidencyProperty, HoldsForTheLastQuarterOfRandomSteps) { expect_no_failure(3000, 30); }

TEST(ResidencyProperty, AMistakeIsFoundAndToldInItsFewestSteps) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const auto steps = random_steps(seed, 300);
        const auto fails = [&](const Steps& some) {
            return failure_of(seed, some, Mistake::keeping_is_forgotten).has_value();
        };
        ASSERT_TRUE(fails(steps)) << "seed " << seed;
        const auto least = shrunk(steps, fails);
        // a model that is kept, a request to unload, and its turn, perhaps at a prompt's end
        const auto text = to_string(least);
        const bool has_prompt = text.find("world.begin_prompt();") != std::string::npos;
        EXPECT_EQ(least.size(), has_prompt ? 4U : 3U) << text;
        EXPECT_NE(text.find("world.load(0, 0, 2);"), std::string::npos) << text;
    }
}

TEST(ResidencyProperty, ShrinkingLeavesWhatTheFailureNeeds) {
    // fails whenever one of kind 1 with a number from 5 on comes before one of kind 2
    const auto fails = [](const Steps& steps) {
        bool is_ready = false;
        for (const auto& step : steps) {
            if (step.kind == 2 && is_ready) return true;
            is_ready = is_ready || (step.kind == 1 && step.numbers[0] >= 5);
        }
        return false;
    };
    Steps steps;
    for (std::uint32_t i = 0; i < 50; ++i) steps.push_back({.kind = i % 4, .numbers = {i, i, i}});
    EXPECT_EQ(shrunk(steps, fails),
              (Steps{{.kind = 1, .numbers = {5, 0, 0}}, {.kind = 2, .numbers = {}}}));
}

}  // namespace
}  // namespace ballast::residency::property
