#include "ballast/engine/core/write_file.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/temporary_folder.hpp"

namespace ballast {
namespace {

using ballast::testing::content_of;
using ballast::testing::TemporaryFolder;
using ::testing::HasSubstr;

std::size_t files_in(const std::filesystem::path& folder) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists();
    return count;
}

/// While it lives, this process can write at most so many bytes into a file: what a full disk is to
/// the writer.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &former_);
        const rlimit limit{bytes, former_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &former_);
        std::signal(SIGXFSZ, signal_);
    }

private:
    rlimit former_{};
    void (*signal_)(int);
};

TEST(WriteFile, ReplacesWhatWasThere) {
    const TemporaryFolder folder;
    ASSERT_TRUE(write_file(folder / "a.png", "old").has_value());
    ASSERT_TRUE(write_file(folder / "a.png", "new").has_value());
    EXPECT_EQ(content_of(folder / "a.png"), "new");
    EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WriteFile, LeavesNothingBehindWhenTheDiskIsFull) {
    const TemporaryFolder folder;
    ASSERT_TRUE(write_file(folder / "a.png", "old").has_value());
    {
        const FileSizeLimit limit(100);
        const auto result = write_file(folder / "a.png", std::string(1000, 'x'));
        ASSERT_FALSE(result.has_value());
        EXPECT_EQ(result.error().code, Code::io);
        EXPECT_FALSE(result.error().hint.empty());
        EXPECT_THAT(result.error().place.file, HasSubstr("a.png"));
    }
    EXPECT_EQ(content_of(folder / "a.png"), "old");
    EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WriteFile, SaysWhatIsWrongWithTheFolder) {
    const TemporaryFolder folder;
    const auto missing = write_file(folder / "none/a.png", "x");
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().code, Code::not_found);
    EXPECT_THAT(missing.error().hint, HasSubstr("folder"));

    ASSERT_TRUE(write_file(folder / "file", "x").has_value());
    const auto below_a_file = write_file(folder / "file/a.png", "x");
    ASSERT_FALSE(below_a_file.has_value());
    EXPECT_EQ(below_a_file.error().code, Code::io);

    const auto too_long = write_file(folder / std::string(300, 'n'), "x");
    ASSERT_FALSE(too_long.has_value());
    EXPECT_THAT(too_long.error().hint, HasSubstr("shorter"));
}

TEST(WriteFile, RefusesAFolderThatMayNotBeWritten) {
    if (::geteuid() == 0) GTEST_SKIP() << "the administrator may write everywhere";
    const TemporaryFolder folder;
    std::filesystem::permissions(
        folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const auto result = write_file(folder / "a.png", "x");
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Code::io);
    EXPECT_THAT(result.error().hint, HasSubstr("may write"));
}

TEST(WriteFile, PassesOverLeftoversOfAnEarlierProcess) {
    const TemporaryFolder folder;
    const auto stale = folder / ("a.png.part-" + std::to_string(::getpid()));
    ASSERT_TRUE(write_file(stale, "half").has_value());
    ASSERT_TRUE(write_file(folder / "a.png", "whole").has_value());
    EXPECT_EQ(content_of(folder / "a.png"), "whole");
    EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WriteFile, FollowsALinkToTheFileThatItMeans) {
    const TemporaryFolder folder;
    folder.write("real.json", "old");
    std::filesystem::create_symlink(folder / "real.json", folder / "link.json");
    ASSERT_TRUE(write_file(folder / "link.json", "new").has_value());
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.json"));
    EXPECT_EQ(content_of(folder / "real.json"), "new");
}

TEST(WriteFile, WritesToDevicesInsteadOfReplacingThem) {
    ASSERT_TRUE(write_file("/dev/null", "x").has_value());
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    EXPECT_EQ(write_file("/dev/full", "x").error().code, Code::io);
}

TEST(WriteFile, NamesWhatCouldNotBeWritten) {
    const TemporaryFolder folder;
    EXPECT_THAT(write_file(folder / "none/a", "x", "picture").error().what, HasSubstr("picture"));
}

}  // namespace
}  // namespace ballast
