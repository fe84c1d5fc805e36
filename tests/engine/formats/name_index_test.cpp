#include "ballast/engine/formats/name_index.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/random.hpp"

namespace ballast::formats {
namespace {

struct Names {
    std::vector<std::string> list;
    auto operator()() const {
        return [this](std::uint32_t i) -> std::string_view { return list[i]; };
    }
};

TEST(NameIndex, FindsEveryNameAndNoOther) {
    testing::Random random(1);
    Names names;
    for (int i = 0; i < 2000; ++i)
        names.list.push_back("block." + std::to_string(i) + random.text(3, "ab") + ".weight");
    const NameIndex index(names.list.size(), names());
    for (std::uint32_t i = 0; i < names.list.size(); ++i) {
        EXPECT_EQ(index.find(names.list[i], names()), i);
        EXPECT_EQ(index.find(names.list[i] + "s", names()), std::nullopt);
    }
    EXPECT_EQ(index.find("", names()), std::nullopt);
    EXPECT_EQ(index.find_repeated(names()), std::nullopt);
}

TEST(NameIndex, AnEmptyIndexFindsNothing) {
    const Names none;
    EXPECT_EQ(NameIndex().find("a", none()), std::nullopt);
    EXPECT_EQ(NameIndex(0, none()).find_repeated(none()), std::nullopt);
}

TEST(NameIndex, FindsARepeatedName) {
    const Names names{{"c", "a", "b", "a", ""}};
    const auto twice = NameIndex(names.list.size(), names()).find_repeated(names());
    ASSERT_TRUE(twice.has_value());
    EXPECT_EQ(names.list[*twice], "a");
}

}  // namespace
}  // namespace ballast::formats
