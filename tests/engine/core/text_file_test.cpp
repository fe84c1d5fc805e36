#include "ballast/engine/core/text_file.hpp"

#include <gtest/gtest.h>

#include "ballast/engine/core/file_chunks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast {
namespace {

using namespace ballast::literals;
using ballast::testing::TemporaryFolder;

TEST(TextFile, IsReadWhole) {
    const TemporaryFolder folder;
    const std::string text(200'000, 'x');
    EXPECT_EQ(read_text_file(folder.write("long", text), 200'000_B), text);
    EXPECT_EQ(read_text_file(folder.write("empty", ""), 0_B), "");
}

TEST(TextFile, ThatCannotBeReadSaysWhyAndWhatToDo) {
    const TemporaryFolder folder;
    const auto expect = [&](const std::filesystem::path& path, Code code, std::string_view why) {
        const auto read = read_text_file(path, 10_B);
        ASSERT_FALSE(read.has_value()) << path;
        EXPECT_EQ(read.error().code, code) << path;
        EXPECT_EQ(read.error().why, why);
        EXPECT_EQ(read.error().place.file, path.string());
        EXPECT_FALSE(read.error().hint.empty()) << why;
    };
    expect(folder / "none", Code::not_found, "there is no such file");
    expect(folder.path(), Code::io, "it is a folder");
    expect(folder.write("long", "12345678901"), Code::foreign_file, "it has more than 10 B");
}

TEST(FileChunks, StopWhereTheTakerFails) {
    const TemporaryFolder folder;
    const auto path = folder.write("long", std::string(1'000'000, 'x'));
    int calls = 0;
    const auto read = for_each_chunk(path, [&](std::string_view) -> Result<void> {
        if (++calls < 2) return {};
        return fail(Error{.code = Code::bad_value, .what = "enough"});
    });
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, Code::bad_value);
    EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace ballast
