#include "ballast/engine/core/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace ballast {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Log, WritesEveryLineToEverySink) {
    const auto first = std::make_shared<CollectingSink>();
    const auto second = std::make_shared<CollectingSink>();
    const Log log({first, second});
    log.info("loading");
    log.warning("64 bytes too many");
    for (const auto& sink : {first, second})
        EXPECT_THAT(sink->lines(LogLevel::debug), ElementsAre("loading", "64 bytes too many"));
}

TEST(Log, SinksAreAskedForTheLevelsThatMatter) {
    const auto sink = std::make_shared<CollectingSink>();
    const Log log({sink});
    log.debug("d");
    log.info("i");
    log.focus("f");
    log.warning("w");
    log.error("e");
    EXPECT_THAT(sink->lines(LogLevel::debug), ElementsAre("d", "i", "f", "w", "e"));
    EXPECT_THAT(sink->lines(LogLevel::focus), ElementsAre("f", "w", "e"));
    EXPECT_THAT(sink->lines(LogLevel::warning), ElementsAre("w", "e"));
}

TEST(LogLevel, IsReadByTheNameThatItIsWrittenWith) {
    for (std::size_t i = 0; i < kLogLevels; ++i) {
        const auto level = static_cast<LogLevel>(i);
        EXPECT_EQ(parse_log_level(to_string(level)), level) << i;
    }
    for (const auto* name : {"", "FOCUS", "focus ", "critical"})
        EXPECT_EQ(parse_log_level(name), std::nullopt) << name;
}

TEST(Log, WithoutSinksDropsEverything) {
    EXPECT_NO_THROW(Log().error("nobody hears this"));
    EXPECT_NO_THROW(Log(std::vector<std::shared_ptr<LogSink>>{}).error("nor this"));
}

TEST(Log, CopiesShareTheirSinks) {
    const auto sink = std::make_shared<CollectingSink>();
    const Log log({sink});
    const Log copy = log;  // NOLINT: the copy is what is tested
    copy.info("through the copy");
    EXPECT_THAT(sink->lines(LogLevel::info), ElementsAre("through the copy"));
}

TEST(Log, EscapesWhatForeignFilesSay) {
    const auto sink = std::make_shared<CollectingSink>();
    Log({sink}).warning("tensor \x1b[2J\nerror: fake");
    EXPECT_THAT(sink->lines(LogLevel::warning), ElementsAre("tensor \\x1b[2J\\x0aerror: fake"));
}

TEST(Log, KeepsTheLinesOfAllThreads) {
    const auto sink = std::make_shared<CollectingSink>();
    {
        const Log log({sink});
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([log] {
                for (int i = 0; i < 250; ++i) log.info("line");
            });
    }
    EXPECT_THAT(sink->lines(LogLevel::info), SizeIs(1000));
}

TEST(StderrSink, WritesLevelAndLineFromItsLevelOn) {
    ::testing::internal::CaptureStderr();
    const Log log({stderr_sink(LogLevel::warning)});
    log.info("quiet");
    log.warning("half the {} braces");
    log.error("loud");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "warning: half the {} braces\nerror: loud\n");
}

TEST(StderrSink, CallsEveryLevelByItsName) {
    ::testing::internal::CaptureStderr();
    const Log log({stderr_sink(LogLevel::focus)});
    log.info("quiet");
    log.focus("memory");
    log.warning("careful");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "focus: memory\nwarning: careful\n");
}

}  // namespace
}  // namespace ballast
