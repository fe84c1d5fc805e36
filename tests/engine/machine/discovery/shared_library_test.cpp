#include "ballast/engine/machine/discovery/shared_library.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace ballast::machine {
namespace {

using Names = std::vector<std::string>;

TEST(SharedLibrary, OpensTheFirstThatExistsAndFindsWhatItHas) {
    const auto library = SharedLibrary::open(Names{"", "libthere-is-none.so.9", FAKE_NOTHING});
    ASSERT_TRUE(library);
    EXPECT_EQ(library->name(), FAKE_NOTHING);
    auto* function = library->find<int()>("fake_nothing");
    ASSERT_NE(function, nullptr);
    EXPECT_EQ(function(), 0);
    EXPECT_EQ(library->find<int()>("cuInit"), nullptr);
}

TEST(SharedLibrary, IsNothingWhereNoneCanBeOpened) {
    const ballast::testing::TemporaryFolder folder;
    const auto text = folder.write("libno.so", "this is no library");
    EXPECT_FALSE(SharedLibrary::open(Names{}));
    EXPECT_FALSE(SharedLibrary::open(Names{"", "libthere-is-none.so.9", text.string(), "/"}));
}

TEST(SharedLibrary, MovesLeaveNothingBehind) {
    auto first = SharedLibrary::open(Names{FAKE_NOTHING});
    ASSERT_TRUE(first);
    auto second = std::move(*first);
    EXPECT_EQ(first->find<int()>("fake_nothing"), nullptr);  // NOLINT(bugprone-use-after-move)
    EXPECT_NE(second.find<int()>("fake_nothing"), nullptr);
    *first = std::move(second);
    EXPECT_NE(first->find<int()>("fake_nothing"), nullptr);
}

TEST(SharedLibrary, AMissingFunctionDoesNotSucceed) {
    int (*missing)(int*) = nullptr;
    EXPECT_FALSE(succeeds(missing, nullptr));
    EXPECT_TRUE(succeeds(+[](int answer) { return answer; }, 0));
    EXPECT_FALSE(succeeds(+[](int answer) { return answer; }, 3));
}

}  // namespace
}  // namespace ballast::machine
