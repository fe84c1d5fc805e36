#include "ballast/engine/core/clock.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace ballast {
namespace {

using namespace std::chrono_literals;

TEST(VirtualClock, StandsStillUntilItIsAdvanced) {
    VirtualClock clock;
    const auto begin = clock.now();
    EXPECT_EQ(clock.now(), begin);
    clock.advance(1500ms);
    EXPECT_EQ(clock.now() - begin, 1500ms);
    EXPECT_DOUBLE_EQ(clock.seconds_since(begin), 1.5);
}

TEST(VirtualClock, LosesNoAdvanceOfAnyThread) {
    VirtualClock clock;
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&clock] {
                for (int i = 0; i < 1000; ++i) clock.advance(1ns);
            });
    }
    EXPECT_EQ(clock.now(), 4000ns);
}

TEST(RealClock, NeverRunsBackwards) {
    const RealClock clock;
    auto last = clock.now();
    for (int i = 0; i < 1000; ++i) {
        const auto now = clock.now();
        ASSERT_GE(now, last);
        last = now;
    }
    EXPECT_GE(clock.seconds_since(last), 0.0);
}

TEST(UtcText, CutsTheSecondToMillisecondsOrMicroseconds) {
    const auto time =
        UtcTime{std::chrono::sys_days{std::chrono::January / 2 / 2026}} + 3h + 4min + 5s + 678999us;
    EXPECT_EQ(utc_text(time, SecondDigits::milliseconds), "2026-01-02T03:04:05.678Z");
    EXPECT_EQ(utc_text(time, SecondDigits::microseconds), "2026-01-02T03:04:05.678999Z");
}

TEST(UtcText, KnowsTimesBeforeTheEpochAndLeapDays) {
    EXPECT_EQ(utc_text(UtcTime{-1us}, SecondDigits::microseconds), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(utc_text(UtcTime{std::chrono::sys_days{std::chrono::February / 29 / 2028}},
                       SecondDigits::milliseconds),
              "2028-02-29T00:00:00.000Z");
}

TEST(FixedWallClock, StandsStillUntilItIsSet) {
    FixedWallClock clock(UtcTime{5s});
    EXPECT_EQ(clock.utc(), UtcTime{5s});
    EXPECT_EQ(clock.utc(), UtcTime{5s});
    clock.set(UtcTime{3s});
    EXPECT_EQ(clock.utc(), UtcTime{3s});
}

TEST(RealWallClock, KnowsThisCentury) {
    const auto text = utc_text(RealWallClock().utc(), SecondDigits::milliseconds);
    EXPECT_EQ(text.substr(0, 2), "20") << text;
}

}  // namespace
}  // namespace ballast
