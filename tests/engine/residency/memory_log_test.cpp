#include "ballast/engine/residency/memory_log.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace ballast::residency {
namespace {

using namespace std::chrono_literals;
using namespace ballast::literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const DeviceId kFirstCard{DeviceKind::cuda, 0};
const UtcTime kTime =
    UtcTime{std::chrono::sys_days{std::chrono::January / 2 / 2026}} + 3h + 4min + 5s + 678ms;

MemorySnapshot tagged(std::string tag) {
    return {.time = kTime, .tag = std::move(tag), .readings = {}};
}

TEST(MemorySeries, SummarisesOneIdentifierInTheOrderOfItsSnapshots) {
    MemorySeries series;
    series.record("general", tagged("pre-empty:cuda:0"));
    series.record("free_memory", tagged("pre"));
    series.record("general", tagged("post-empty:cuda:0"));
    EXPECT_THAT(series.summary("general"),
                ElementsAre("=== memory summary: general ===",
                            "2026-01-02T03:04:05.678Z general_pre-empty:cuda:0           ",
                            "2026-01-02T03:04:05.678Z general_post-empty:cuda:0          "));
    EXPECT_THAT(series.summary("vae:01234567"), IsEmpty());
}

TEST(MemorySeries, SummarisesAllIdentifiersSorted) {
    MemorySeries series;
    for (const auto* identifier : {"vae:1", "clip:1", "unet:1"})
        series.record(identifier, tagged("pre-load"));
    const auto lines = series.summary(kPrintSummary);
    ASSERT_THAT(lines, SizeIs(6));
    EXPECT_EQ(lines[0], "=== memory summary: clip:1 ===");
    EXPECT_EQ(lines[2], "=== memory summary: unet:1 ===");
    EXPECT_EQ(lines[4], "=== memory summary: vae:1 ===");
}

TEST(MemorySeries, KeepsTheLatest1024SnapshotsOfEachIdentifier) {
    MemorySeries series;
    for (int i = 0; i < 1030; ++i) series.record("general", tagged(fmt::format("<{}>", i)));
    series.record("other", tagged("only"));
    const auto lines = series.summary("general");
    ASSERT_THAT(lines, SizeIs(1025));
    EXPECT_THAT(lines[1], ::testing::HasSubstr("general_<6> "));
    EXPECT_THAT(lines.back(), ::testing::HasSubstr("general_<1029> "));
    EXPECT_THAT(series.summary("other"), SizeIs(2));
}

TEST(MemorySeries, ForgetsTheIdentifierThatWasRecordedLongestAgo) {
    MemorySeries series({.snapshots = 2, .identifiers = 3});
    for (const auto* identifier : {"general", "unet:1", "unet:2", "general", "unet:3"})
        series.record(identifier, tagged("t"));
    EXPECT_THAT(series.summary("general"), SizeIs(3)) << "it is the oldest, but in use";
    EXPECT_THAT(series.summary("unet:1"), IsEmpty());
    EXPECT_THAT(series.summary("unet:2"), SizeIs(2));
    EXPECT_THAT(series.summary("unet:3"), SizeIs(2));
}

TEST(MemorySeries, KeepsAtMost256Identifiers) {
    MemorySeries series;
    for (int i = 0; i < 300; ++i) series.record(fmt::format("unet:{}", i), tagged("pre-load"));
    EXPECT_THAT(series.summary(kPrintSummary), SizeIs(2 * 256));
    EXPECT_THAT(series.summary("unet:43"), IsEmpty());
    EXPECT_THAT(series.summary("unet:44"), SizeIs(2));
}

TEST(MemorySeries, LosesNoSnapshotOfAnyThread) {
    MemorySeries series;
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&series, t] {
                for (int i = 0; i < 100; ++i) {
                    series.record("shared", tagged("t"));
                    series.record(fmt::format("own:{}", t), tagged("t"));
                    (void)series.summary("shared");
                }
            });
    }
    EXPECT_THAT(series.summary("shared"), SizeIs(401));
    EXPECT_THAT(series.summary("own:3"), SizeIs(101));
}

/// A machine with one card, whose use each reading raises by a GiB.
class MemoryLogTest : public ::testing::Test {
protected:
    [[nodiscard]] MemoryLog::Source source() {
        return [this] {
            used_ += 1_GiB;
            return std::vector<DeviceReading>{
                {.device = kFirstCard, .total = 24_GiB, .used = used_},
                {.device = kCpu, .total = 64_GiB, .used = 8_GiB}};
        };
    }

    [[nodiscard]] std::vector<std::string> lines_from(LogLevel least) const {
        return sink_->lines(least);
    }

    Bytes used_{};
    std::shared_ptr<CollectingSink> sink_ = std::make_shared<CollectingSink>();
    FixedWallClock clock_{kTime};
    MemoryLog loud_{Log({sink_}), clock_, source(), ModelManagementLines::on};
    MemoryLog quiet_{Log({sink_}), clock_, source(), ModelManagementLines::off};
};

TEST_F(MemoryLogTest, WritesSnapshotsAsLinesOfModelManagementAtFocus) {
    loud_.snapshot("unet:01234567", "pre-load");
    clock_.set(kTime + 1s);
    loud_.snapshot("unet:01234567", "post-model");
    EXPECT_THAT(lines_from(LogLevel::focus),
                ElementsAre("[MultiGPU Model Management] 2026-01-02T03:04:05.678Z "
                            "unet:01234567_pre-load              cpu|8.00 cuda:0|1.00",
                            "[MultiGPU Model Management] 2026-01-02T03:04:06.678Z "
                            "unet:01234567_post-model            cpu|8.00 cuda:0|2.00"));
    EXPECT_THAT(lines_from(LogLevel::warning), IsEmpty());
    EXPECT_THAT(loud_.series().summary("unet:01234567"), SizeIs(3));
}

TEST_F(MemoryLogTest, RemembersWhatItDoesNotWrite) {
    quiet_.snapshot("cpu_monitor", "trigger:86.4pct");
    quiet_.say("[EVICTION] something");
    quiet_.summary("cpu_monitor");
    EXPECT_THAT(lines_from(LogLevel::debug), IsEmpty());
    EXPECT_THAT(quiet_.series().summary("cpu_monitor"),
                ElementsAre("=== memory summary: cpu_monitor ===",
                            "2026-01-02T03:04:05.678Z "
                            "cpu_monitor_trigger:86.4pct         cpu|8.00 cuda:0|1.00"));
}

TEST_F(MemoryLogTest, WritesTheSummaryWhenASnapshotAsksForIt) {
    quiet_.snapshot("general", "a");
    loud_.snapshot("general", "b");
    loud_.snapshot(kPrintSummary, "any");
    const auto lines = lines_from(LogLevel::focus);
    ASSERT_THAT(lines, SizeIs(3)) << "the snapshot, and a summary of it alone";
    EXPECT_EQ(lines[1], "[MultiGPU Model Management] === memory summary: general ===");
    EXPECT_EQ(lines[2], lines[0]);
    EXPECT_EQ(used_, 2_GiB) << "a summary takes no reading";
}

TEST_F(MemoryLogTest, SaysWhatItIsTold) {
    loud_.say(eviction_line(kFirstCard, 2));
    EXPECT_THAT(lines_from(LogLevel::focus),
                ElementsAre("[MultiGPU Model Management] [EVICTION] Device cuda:0: unloaded 2 "
                            "models due to insufficient memory"));
}

TEST_F(MemoryLogTest, TellsTheLoadToEverybodyAndKeepsItNowhere) {
    for (auto* log : {&loud_, &quiet_}) log->load("after_vae");
    EXPECT_THAT(lines_from(LogLevel::focus),
                ElementsAre("tag=after_vae|cpu=8.00/64.00|cuda:0=1.00/24.00",
                            "tag=after_vae|cpu=8.00/64.00|cuda:0=2.00/24.00"));
    EXPECT_THAT(lines_from(LogLevel::warning), IsEmpty());
    EXPECT_THAT(loud_.series().summary(kPrintSummary), IsEmpty());
}

}  // namespace
}  // namespace ballast::residency
