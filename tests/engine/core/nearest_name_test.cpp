#include "ballast/engine/core/nearest_name.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace ballast {
namespace {

constexpr std::array<std::string_view, 4> kNames{"inspect", "run", "version", "help"};

TEST(NearestName, ForgivesSlipsOfTheKeyboard) {
    EXPECT_EQ(nearest_name("inpect", kNames), "inspect");
    EXPECT_EQ(nearest_name("INSPECT", kNames), "inspect");
    EXPECT_EQ(nearest_name("rnu", kNames), "run");
    EXPECT_EQ(nearest_name("hlep", kNames), "help");
    EXPECT_EQ(nearest_name("versions", kNames), "version");
}

TEST(NearestName, MakesNoAbsurdSuggestion) {
    EXPECT_EQ(nearest_name("banana", kNames), std::nullopt);
    EXPECT_EQ(nearest_name("", kNames), std::nullopt);
    EXPECT_EQ(nearest_name("run", {}), std::nullopt);
    EXPECT_EQ(nearest_name(std::string(100'000, 'r'), kNames), std::nullopt);
}

TEST(NearestName, TakesTheFirstOfEquals) {
    constexpr std::array<std::string_view, 2> names{"cat", "car"};
    EXPECT_EQ(nearest_name("caz", names), "cat");
}

}  // namespace
}  // namespace ballast
