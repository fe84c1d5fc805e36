#include "ballast/engine/formats/io/file.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "ballast/engine/formats/io/mapping.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::formats {
namespace {

using ballast::testing::TemporaryFolder;

TEST(File, MovesItsDescriptor) {
    const TemporaryFolder folder;
    auto first = File::open(folder.write("a", "first"));
    auto second = File::open(folder.write("b", "second"));
    ASSERT_TRUE(first.has_value() && second.has_value());
    const int descriptor = second->descriptor();
    *first = *std::move(second);
    EXPECT_EQ(first->descriptor(), descriptor);
    EXPECT_EQ(first->size(), Bytes{6});
    const File third = *std::move(first);
    EXPECT_EQ(third.path(), folder / "b");
    std::array<std::byte, 6> bytes{};
    EXPECT_TRUE(third.read_at(0, bytes).has_value());
}

TEST(File, ChecksRangesWithoutReading) {
    const TemporaryFolder folder;
    const auto file = File::open(folder.write("a", "12345"));
    ASSERT_TRUE(file.has_value());
    EXPECT_TRUE(file->check_range(0, 5).has_value());
    EXPECT_TRUE(file->check_range(5, 0).has_value());
    EXPECT_FALSE(file->check_range(4, 2).has_value());
    EXPECT_FALSE(file->check_range(6, 0).has_value());
    EXPECT_FALSE(file->check_range(1, std::numeric_limits<std::uint64_t>::max()).has_value());
}

TEST(Mapping, OutlivesTheFileItWasMadeFrom) {
    const TemporaryFolder folder;
    std::shared_ptr<const Mapping> map;
    {
        const auto file = File::open(folder.write("a", "12345"));
        ASSERT_TRUE(file.has_value());
        map = *Mapping::map(*file);
    }
    ASSERT_EQ(map->bytes().size(), 5U);
    EXPECT_EQ(map->bytes()[4], std::byte{'5'});
    map->expect_use(0, 5);
    map->expect_use(5, 0);
}

TEST(Mapping, AnEmptyFileIsAnEmptyMap) {
    const TemporaryFolder folder;
    const auto file = File::open(folder.write("a", ""));
    ASSERT_TRUE(file.has_value());
    EXPECT_TRUE((*Mapping::map(*file))->bytes().empty());
}

}  // namespace
}  // namespace ballast::formats
