#include "ballast/engine/core/write_file.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <future>
#include <string>
#include <type_traits>
#include <vector>

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
        EXPECT_EQ(result.error().code, Code::write_failed);
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

TEST(WriteFile, LeavesThePartsOfOtherWritersAlone) {
    const TemporaryFolder folder;
    const auto name = ".part-" + std::to_string(::getpid());
    folder.write(name, "half");
    folder.write(name + "-0", "half");
    ASSERT_TRUE(write_file(folder / "a.png", "whole").has_value());
    EXPECT_EQ(content_of(folder / "a.png"), "whole");
    EXPECT_EQ(content_of(folder / name), "half");
    EXPECT_EQ(content_of(folder / (name + "-0")), "half");
    EXPECT_EQ(files_in(folder.path()), 3U);
}

TEST(WriteFile, TakesNamesAsLongAsTheFileSystemDoes) {
    const TemporaryFolder folder;
    for (const std::size_t length : {233U, 244U, 255U}) {
        const std::string name(length, 'n');
        ASSERT_TRUE(write_file(folder / name, "x").has_value()) << length;
        EXPECT_EQ(content_of(folder / name), "x");
    }
    EXPECT_FALSE(write_file(folder / std::string(256, 'n'), "x").has_value());
    EXPECT_EQ(files_in(folder.path()), 3U);
}

TEST(WriteFile, RefusesNamesWithAZeroCharacter) {
    const TemporaryFolder folder;
    const auto name = folder.path() / std::string("a\0b", 3);
    EXPECT_FALSE(write_file(name, "x").has_value());
    EXPECT_FALSE(write_new_file(name, "x").has_value());
    EXPECT_EQ(files_in(folder.path()), 0U);
}

/// What `work` returns in each of eight threads that run at once.
template <typename Work>
auto eight_at_once(const Work& work) {
    std::vector<std::future<std::invoke_result_t<Work, int>>> runs;
    for (int i = 0; i < 8; ++i) runs.push_back(std::async(std::launch::async, work, i));
    std::vector<std::invoke_result_t<Work, int>> results;
    for (auto& run : runs) results.push_back(run.get());
    return results;
}

TEST(WriteFile, OfSeveralThreadsLeavesTheWholeFileOfOne) {
    const TemporaryFolder folder;
    const auto path = folder / "a.png";
    const auto all_went_well = eight_at_once([&](int writer) {
        bool went_well = true;
        for (int i = 0; i < 50; ++i)
            went_well &=
                write_file(path, std::string(50'000, static_cast<char>('a' + writer))).has_value();
        return went_well;
    });
    EXPECT_THAT(all_went_well, ::testing::Each(true));
    const auto content = content_of(path);
    EXPECT_EQ(content, std::string(50'000, content.at(0)));
    EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WriteNewFile, ReplacesNothing) {
    const TemporaryFolder folder;
    EXPECT_TRUE(write_new_file(folder / "a.png", "first").value());
    EXPECT_FALSE(write_new_file(folder / "a.png", "second").value());
    EXPECT_EQ(content_of(folder / "a.png"), "first");
    EXPECT_EQ(files_in(folder.path()), 1U);
    std::filesystem::create_symlink(folder / "nowhere", folder / "b.png");
    EXPECT_FALSE(write_new_file(folder / "b.png", "x").value());
    EXPECT_FALSE(std::filesystem::exists(folder / "nowhere"));
    EXPECT_EQ(write_new_file(folder / "none/a.png", "x", "picture").error().code, Code::not_found);
}

TEST(WriteNewFile, OfSeveralWritersLetsOneWin) {
    for (int round = 0; round < 20; ++round) {
        const TemporaryFolder folder;
        const auto won = eight_at_once([&](int writer) {
            return write_new_file(folder / "a.png", std::to_string(writer)).value();
        });
        ASSERT_EQ(std::count(won.begin(), won.end(), true), 1);
        const auto winner = std::find(won.begin(), won.end(), true) - won.begin();
        EXPECT_EQ(content_of(folder / "a.png"), std::to_string(winner));
        EXPECT_EQ(files_in(folder.path()), 1U);
    }
}

TEST(WriteFile, FollowsALinkToTheFileThatItMeans) {
    const TemporaryFolder folder;
    folder.write("real.json", "old");
    std::filesystem::create_symlink(folder / "real.json", folder / "link.json");
    ASSERT_TRUE(write_file(folder / "link.json", "new").has_value());
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.json"));
    EXPECT_EQ(content_of(folder / "real.json"), "new");
}

TEST(WriteFile, MakesTheFileThatALinkMeans) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "far");
    std::filesystem::create_symlink("far/real.json", folder / "link.json");
    std::filesystem::create_symlink(folder / "link.json", folder / "far/again.json");
    ASSERT_TRUE(write_file(folder / "far/again.json", "new").has_value());
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.json"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "far/again.json"));
    EXPECT_EQ(content_of(folder / "far/real.json"), "new");

    std::filesystem::create_symlink("circle", folder / "circle");
    EXPECT_EQ(write_file(folder / "circle", "x").error().code, Code::io);
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "circle"));
    std::filesystem::create_symlink("none/a", folder / "astray");
    EXPECT_EQ(write_file(folder / "astray", "x").error().code, Code::not_found);
}

TEST(WriteFile, WritesToDevicesInsteadOfReplacingThem) {
    ASSERT_TRUE(write_file("/dev/null", "x").has_value());
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    EXPECT_EQ(write_file("/dev/full", "x").error().code, Code::write_failed);
}

TEST(WriteFile, NamesWhatCouldNotBeWritten) {
    const TemporaryFolder folder;
    EXPECT_THAT(write_file(folder / "none/a", "x", "picture").error().what, HasSubstr("picture"));
}

}  // namespace
}  // namespace ballast
