#include "ballast/runtime/image/save_path.hpp"

#include <gmock/gmock.h>

#include "ballast/engine/core/write_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::runtime::image {
namespace {

using ballast::testing::TemporaryFolder;
using ::testing::HasSubstr;

std::tm some_evening() {
    std::tm time{};
    time.tm_year = 126;
    time.tm_mon = 2;
    time.tm_mday = 4;
    time.tm_hour = 21;
    time.tm_min = 5;
    time.tm_sec = 9;
    return time;
}

Result<SavePlace> place(const TemporaryFolder& folder, std::string_view prefix) {
    return save_place({.root = folder.path(),
                       .prefix = prefix,
                       .width = 512,
                       .height = 768,
                       .local_time = some_evening()});
}

/// The file that a first picture with this prefix gets, below the folder.
std::string first_file(const TemporaryFolder& folder, std::string_view prefix) {
    auto found = place(folder, prefix);
    if (!found) return to_string(found.error());
    return next_file(*found, 0).lexically_relative(folder.path()).generic_string();
}

TEST(SavePath, CountsFromOne) {
    const TemporaryFolder folder;
    EXPECT_EQ(first_file(folder, "ComfyUI"), "ComfyUI_00001_.png");
    auto batch = place(folder, "ComfyUI").value();
    EXPECT_EQ(next_file(batch, 0).filename(), "ComfyUI_00001_.png");
    EXPECT_EQ(next_file(batch, 1).filename(), "ComfyUI_00002_.png");
}

TEST(SavePath, ContinuesBehindTheLargestNumber) {
    const TemporaryFolder folder;
    for (const auto* name : {"a_00007_.png", "a_00012_.webp", "a_x_.png", "a_99.png", "ab_50_.png",
                             "a_99999999999999999999_.png", "b_00030_.png", "A_00040_.png"})
        folder.write(name, "");
    EXPECT_EQ(first_file(folder, "a"), "a_00013_.png");
    EXPECT_EQ(first_file(folder, "ab"), "ab_00051_.png");
    folder.write("a_123456_.png", "");
    EXPECT_EQ(first_file(folder, "a"), "a_123457_.png");
}

TEST(SavePath, MakesSubfolders) {
    const TemporaryFolder folder;
    const auto found = place(folder, "x/./y/../z/name").value();
    EXPECT_EQ(found.subfolder, "x/z");
    EXPECT_EQ(found.name, "name");
    EXPECT_TRUE(std::filesystem::is_directory(folder / "x/z"));
    EXPECT_EQ(first_file(folder, "sub/"), "sub_00001_.png");
}

TEST(SavePath, ReplacesTokens) {
    const TemporaryFolder folder;
    EXPECT_EQ(first_file(folder, "%year%-%month%-%day%/%hour%%minute%%second%_%width%x%height%"),
              "2026-03-04/210509_512x768_00001_.png");
    EXPECT_EQ(first_file(folder, "100%_%date%"), "100%_%date%_00001_.png");
}

TEST(SavePath, ReplacesTheNumberInTheBatchPerPictureAndOverwritesNothing) {
    const TemporaryFolder folder;
    auto batch = place(folder, "p%batch_num%").value();
    const auto first = next_file(batch, 0);
    EXPECT_EQ(first.filename(), "p0_00001_.png");
    EXPECT_EQ(next_file(batch, 1).filename(), "p1_00002_.png");
    ASSERT_TRUE(write_file(first, "x").has_value());
    EXPECT_EQ(first_file(folder, "p%batch_num%"), "p0_00002_.png");
}

TEST(SavePath, StaysInsideTheOutputFolder) {
    const TemporaryFolder folder;
    for (const std::string& prefix :
         std::vector<std::string>{"../a", "a/../../b", "/etc/a", "..", std::string("a\0b", 3)}) {
        const auto found = place(folder, prefix);
        ASSERT_FALSE(found.has_value()) << prefix;
        EXPECT_EQ(found.error().code, Code::bad_value);
        EXPECT_THAT(found.error().hint, HasSubstr("below the output folder"));
    }
}

TEST(SavePath, SaysWhenTheFolderCannotBeMade) {
    const TemporaryFolder folder;
    folder.write("file", "");
    const auto found = place(folder, "file/a");
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, Code::io);
    EXPECT_THAT(found.error().place.file, HasSubstr("file"));
}

}  // namespace
}  // namespace ballast::runtime::image
