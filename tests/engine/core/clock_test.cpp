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

}  // namespace
}  // namespace ballast
