#include "ballast/engine/machine/inference_reserve.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ballast::machine {
namespace {

using namespace ballast::literals;

struct Case {
    System system;
    std::optional<Bytes> total;
    std::optional<Reserve> said;
    double reserve;
};

TEST(InferenceReserve, FollowsSystemTotalAndUser) {
    const Case cases[] = {
        {System::gnu_linux, 24_GiB, {}, 419'430'400},
        {System::wsl2, 24_GiB, {}, 419'430'400},
        {System::macos, 24_GiB, {}, 419'430'400},
        {System::gnu_linux, {}, {}, 419'430'400},
        {System::windows, 8_GiB, {}, 629'145'600},
        {System::windows, 15'360_MiB, {}, 629'145'600},
        {System::windows, 15'360_MiB + 1_B, {}, 734'003'200},
        {System::windows, {}, {}, 629'145'600},
        {System::gnu_linux, 8_GiB, Reserve{2'560_MiB}, 2'684'354'560},
        {System::windows, 24_GiB, Reserve{0_B}, 0},
        {System::windows, 16_GiB, Reserve{Percent{25}}, 4'294'967'296},
        {System::windows, {}, Reserve{Percent{25}}, 629'145'600},
    };
    for (const auto& c : cases)
        EXPECT_DOUBLE_EQ(extra_reserve(c.system, c.total, c.said), c.reserve)
            << to_string(c.system) << " " << to_string(c.total.value_or(0_B));
}

TEST(InferenceReserve, LeavesInferenceEightTenthsOfAGibibyteBeside) {
    EXPECT_DOUBLE_EQ(min_inference(System::gnu_linux, 8_GiB, {}), 1'278'423'859.2);
    EXPECT_DOUBLE_EQ(min_inference(System::wsl2, 24_GiB, {}), 1'278'423'859.2);
    EXPECT_DOUBLE_EQ(min_inference(System::windows, 15_GiB, {}), 1'488'139'059.2);
    EXPECT_DOUBLE_EQ(min_inference(System::windows, 24_GiB, {}), 1'592'996'659.2);
    EXPECT_DOUBLE_EQ(min_inference(System::windows, 24_GiB, Reserve{0_B}), 858'993'459.2);
}

TEST(InferenceReserve, AddsUpToTheWorkedBudgetOfAnEightGibCard) {
    const double gib = 1'073'741'824;
    const double reserve = extra_reserve(System::gnu_linux, 8_GiB, {});
    const double least = min_inference(System::gnu_linux, 8_GiB, {});
    EXPECT_DOUBLE_EQ(std::max(least, 1.2 * gib + reserve), 1'707'920'588.8);
    EXPECT_DOUBLE_EQ(0.7 * gib + reserve, 1'171'049'676.8);
    EXPECT_DOUBLE_EQ(std::max(least, 0.7 * gib + reserve), 1'278'423'859.2);
    EXPECT_DOUBLE_EQ(7.5 * gib - least, 6'774'639'820.8);
    EXPECT_DOUBLE_EQ(7.0 * gib - least, 6'237'768'908.8);
}

}  // namespace
}  // namespace ballast::machine
