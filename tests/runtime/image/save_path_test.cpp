#include "ballast/runtime/image/save_path.hpp"

#include <gmock/gmock.h>

#include <future>
#include <set>

#include "tests/support/temporary_folder.hpp"

namespace ballast::runtime::image {
namespace {

using ballast::testing::content_of;
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

/// The file that a first picture with this prefix gets, below the folder. It is removed again.
std::string first_file(const TemporaryFolder& folder, std::string_view prefix) {
    auto found = place(folder, prefix);
    if (!found) return to_string(found.error());
    const auto file = save_next(*found, 0, "").value();
    std::filesystem::remove(file);
    return file.lexically_relative(folder.path()).generic_string();
}

TEST(SavePath, CountsFromOne) {
    const TemporaryFolder folder;
    EXPECT_EQ(first_file(folder, "ComfyUI"), "ComfyUI_00001_.png");
    auto batch = place(folder, "ComfyUI").value();
    EXPECT_EQ(save_next(batch, 0, "a").value().filename(), "ComfyUI_00001_.png");
    EXPECT_EQ(save_next(batch, 1, "b").value().filename(), "ComfyUI_00002_.png");
    EXPECT_EQ(content_of(folder / "ComfyUI_00002_.png"), "b");
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
    EXPECT_EQ(save_next(batch, 0, "x").value().filename(), "p0_00001_.png");
    EXPECT_EQ(save_next(batch, 1, "x").value().filename(), "p1_00002_.png");
    EXPECT_EQ(first_file(folder, "p%batch_num%"), "p0_00002_.png");
}

TEST(SavePath, GivesEveryPictureOfSeveralWritersAFileOfItsOwn) {
    const TemporaryFolder folder;
    constexpr int kWriters = 8;
    constexpr int kPictures = 40;
    std::vector<SavePlace> places(kWriters, place(folder, "p").value());  // found at the same time
    std::vector<std::future<void>> writers;
    for (int writer = 0; writer < kWriters; ++writer)
        writers.push_back(std::async(std::launch::async, [&places, writer] {
            for (int i = 0; i < kPictures; ++i)
                (void)save_next(places[static_cast<std::size_t>(writer)], i,
                                std::to_string(writer) + " " + std::to_string(i))
                    .value();
        }));
    for (auto& writer : writers) writer.get();
    std::set<std::string> contents;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        contents.insert(content_of(entry.path()));
    EXPECT_EQ(contents.size(), static_cast<std::size_t>(kWriters * kPictures));
}

TEST(SavePath, SaysWhenAPictureCannotBeWritten) {
    const TemporaryFolder folder;
    auto gone = place(folder, "sub/p").value();
    std::filesystem::remove(folder / "sub");
    EXPECT_THAT(save_next(gone, 0, "x").error().what, HasSubstr("picture"));
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

TEST(SavePath, EndsWhenNoNameIsFree) {
    const TemporaryFolder folder;
    SavePlace place{.folder = folder.path() / std::string("a\0b", 3), .subfolder = {}, .name = "x"};
    std::filesystem::create_directories(folder / "a");
    EXPECT_FALSE(save_next(place, 0, "bytes"));
}

TEST(SavePath, RefusesNamesThatNoFileCanHave) {
    const TemporaryFolder folder;
    const auto code = [&](const std::string& prefix) {
        const auto place = save_place({.root = folder.path(), .prefix = prefix});
        return place ? Code::internal : place.error().code;
    };
    EXPECT_EQ(code(std::string(245, 'x')), Code::bad_value);
    EXPECT_EQ(code(std::string(244, 'x')), Code::internal);
    EXPECT_EQ(code(std::string(256, 'x') + "/y"), Code::bad_value);
    EXPECT_EQ(code(std::string("a\0b", 3)), Code::bad_value);
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
