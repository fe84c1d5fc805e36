#include "ballast/engine/core/threads.hpp"

#include <gmock/gmock.h>

#include <cerrno>

namespace ballast {
namespace {

using ::testing::HasSubstr;

TEST(Threads, AreThereWhereTheSystemAllowsThem) {
    EXPECT_TRUE(require_threads(0).has_value());
    EXPECT_TRUE(require_threads(8).has_value());
}

TEST(Threads, ThatTheSystemRefusesAreAnErrorWithARemedy) {
    int started = 0;
    const auto result =
        require_threads(8, [&](pthread_t* thread, void* (*work)(void*), void* with) {
            return ++started > 3 ? EAGAIN : ::pthread_create(thread, nullptr, work, with);
        });
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(started, 4);
    EXPECT_EQ(exit_status(result.error().code), 5);
    EXPECT_THAT(result.error().what, HasSubstr("8 threads"));
    EXPECT_THAT(result.error().why, HasSubstr("after 3"));
    EXPECT_THAT(result.error().hint, HasSubstr("--threads"));
    EXPECT_THAT(result.error().hint, HasSubstr("ulimit -u"));
}

}  // namespace
}  // namespace ballast
