#include "ballast/engine/residency/pressure_monitor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace ballast::residency {
namespace {

using namespace ballast::literals;
using enum PressureAction;

TEST(PressureMonitor, DecidesAsTheTableSays) {
    struct Row {
        double usage;
        PressureAction action;
        std::string tag;
        double last_after;
    };
    const std::vector<Row> table{
        {80, none, "", 0},
        {86, reset, "trigger:86.0pct", 86},
        {90, skip, "skip_hysteresis:90.0pct", 86},
        {91.5, reset, "trigger:91.5pct", 91.5},
        {40, none, "", 0},
        {90, reset, "trigger:90.0pct", 90},
    };
    PressureMonitor monitor;
    for (const auto& row : table) {
        const auto look = monitor.look(row.usage);
        EXPECT_EQ(look.action, row.action) << row.usage;
        EXPECT_EQ(look.tag, row.tag);
        EXPECT_EQ(look.usage, row.usage);
        EXPECT_EQ(monitor.last_reset(), row.last_after) << row.usage;
    }
}

TEST(PressureMonitor, ActsOnlyBeyondTheThreshold) {
    PressureMonitor monitor;
    EXPECT_EQ(monitor.look(85).action, none);
    EXPECT_EQ(monitor.look(std::nextafter(85.0, 100.0)).action, reset);
}

TEST(PressureMonitor, ActsAgainOnlyBeyondTheHysteresis) {
    PressureMonitor monitor;
    ASSERT_EQ(monitor.look(86).action, reset);
    EXPECT_EQ(monitor.look(91).action, skip);
    EXPECT_EQ(monitor.look(std::nextafter(91.0, 100.0)).action, reset);
}

TEST(PressureMonitor, IsArmedAgainOnlyBelowTheThresholdLessTheHysteresis) {
    PressureMonitor monitor;
    ASSERT_EQ(monitor.look(90).action, reset);
    EXPECT_EQ(monitor.look(80).action, none);
    EXPECT_EQ(monitor.last_reset(), 90) << "80 is not below 80";
    EXPECT_EQ(monitor.look(88).action, skip);
    EXPECT_EQ(monitor.look(std::nextafter(80.0, 0.0)).action, none);
    EXPECT_EQ(monitor.last_reset(), 0);
    EXPECT_EQ(monitor.look(88).action, reset);
}

TEST(PressureMonitor, IsNotDeadAfterAHighReading) {
    PressureMonitor monitor;
    ASSERT_EQ(monitor.look(99).action, reset);
    EXPECT_EQ(monitor.look(100).action, skip) << "no usage is beyond 104";
    ASSERT_EQ(monitor.look(50).action, none);
    EXPECT_EQ(monitor.look(99).action, reset);
}

TEST(PressureMonitor, TagsHaveOneDecimal) {
    EXPECT_EQ(PressureMonitor{}.look(86.44).tag, "trigger:86.4pct");
    EXPECT_EQ(PressureMonitor{}.look(100).tag, "trigger:100.0pct");
}

TEST(PressureMonitor, LearnsNothingFromReadingsThatAreNoPercentages) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    PressureMonitor monitor;
    ASSERT_EQ(monitor.look(90).action, reset);
    for (const double reading : {std::nan(""), -1.0, 100.1, kInfinity, -kInfinity}) {
        const auto look = monitor.look(reading);
        EXPECT_EQ(look.action, none) << reading;
        EXPECT_EQ(look.tag, "") << reading;
        monitor.note_reset(reading);
        EXPECT_EQ(monitor.last_reset(), 90) << reading;
    }
}

TEST(PressureMonitor, CountsResetsThatOthersMade) {
    PressureMonitor monitor;
    monitor.note_reset(84);
    EXPECT_EQ(monitor.look(88).action, skip);
    EXPECT_EQ(monitor.look(89.5).action, reset);
}

TEST(PressureMonitor, UsageIsWhatIsNotAvailable) {
    EXPECT_EQ(usage_percent(64_GiB, 16_GiB), 75.0);
    EXPECT_EQ(usage_percent(64_GiB, 0_B), 100.0);
    EXPECT_EQ(usage_percent(64_GiB, 64_GiB), 0.0);
    EXPECT_EQ(usage_percent(64_GiB, 65_GiB), 0.0) << "read at different moments";
    EXPECT_EQ(usage_percent(0_B, 0_B), std::nullopt);
    EXPECT_EQ(usage_percent(std::nullopt, 1_GiB), std::nullopt);
    EXPECT_EQ(usage_percent(64_GiB, std::nullopt), std::nullopt);
    constexpr Bytes kMost{std::numeric_limits<std::uint64_t>::max()};
    EXPECT_EQ(usage_percent(kMost, 0_B), 100.0);
}

class PressureWatchTest : public ::testing::Test {
protected:
    VirtualClock clock;
    std::optional<double> usage = 90;
    int readings = 0;
    PressureWatch watch{[this] {
                            ++readings;
                            return usage;
                        },
                        clock};
};

TEST_F(PressureWatchTest, LooksOncePerInterval) {
    EXPECT_EQ(watch.look().action, reset) << "the first time at once";
    usage = 99;
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(watch.look().action, none);
    EXPECT_EQ(readings, 1);
    clock.advance(PressureWatch::kUsualInterval - Nanoseconds{1});
    EXPECT_EQ(watch.look().action, none);
    EXPECT_EQ(readings, 1);
    clock.advance(Nanoseconds{1});
    EXPECT_EQ(watch.look().action, reset);
    EXPECT_EQ(readings, 2);
}

TEST_F(PressureWatchTest, LooksAsOftenAsItIsTold) {
    PressureWatch always([this] { return usage; }, clock, Nanoseconds{0});
    EXPECT_EQ(always.look().action, reset);
    EXPECT_EQ(always.look().action, skip);
}

TEST_F(PressureWatchTest, DoesNothingWhileUsageIsUnknown) {
    usage = std::nullopt;
    EXPECT_EQ(watch.look().action, none);
    clock.advance(PressureWatch::kUsualInterval);
    usage = 90;
    EXPECT_EQ(watch.look().action, reset);
}

TEST_F(PressureWatchTest, ReadsUsageWhenOthersDroppedCaches) {
    EXPECT_EQ(watch.look().action, reset);
    usage = 84;
    watch.note_reset();
    EXPECT_EQ(watch.monitor().last_reset(), 84) << "within the interval, too";
    usage = std::nullopt;
    watch.note_reset();
    EXPECT_EQ(watch.monitor().last_reset(), 84);
}

}  // namespace
}  // namespace ballast::residency
