#include "ballast/runtime/sampling/conditioning/conditioning.hpp"

#include <gtest/gtest.h>

#include "ballast/runtime/tensor/failure.hpp"
#include "tests/runtime/sampling/golden_sampling.hpp"
#include "tests/runtime/sampling/tiny_network.hpp"
#include "tests/support/failures.hpp"

namespace ballast::runtime::sampling {
namespace {

using ballast::testing::code_of;
using ballast::testing::distance;
using ballast::testing::text_of;

at::Tensor constant(at::IntArrayRef shape, double value) {
    return ops::full(shape, value, at::kFloat);
}

Conditioning with_pooled(Conditioning list, double value) {
    for (auto& entry : list) entry.pooled = constant({1, 8}, value);
    return list;
}

TEST(Conditioning, CombinesByListingBoth) {
    const auto both = combine(text_of(1.0), combine(text_of(2.0), text_of(3.0)));
    ASSERT_EQ(both.size(), 3U);
    EXPECT_EQ(distance(both[2].embedding, constant({1, 4, 8}, 3.0)), 0.0);
}

TEST(Conditioning, StopsDoublingBeforeItFillsTheMemory) {
    Conditioning list = text_of(1);
    Code code = Code::internal;
    for (int i = 0; i < 24 && code == Code::internal; ++i) {
        try {
            list = combine(list, list);
        } catch (const Failure& failure) {
            code = failure.error().code;
            EXPECT_FALSE(failure.error().hint.empty());
        }
    }
    EXPECT_EQ(code, Code::bad_value);
    EXPECT_EQ(list.size(), kMostEntries);
}

TEST(Conditioning, IsHeldInTheAccount) {
    const auto ledger = std::make_shared<device::Ledger>();
    const HostAccounting accounting(ledger);
    const Conditioning one = text_of(1);
    const auto held = ledger->snapshot()[kCpu].now;
    {
        Conditioning list = one;
        for (int i = 0; i < 10; ++i) list = combine(list, list);
        EXPECT_GE(ledger->snapshot()[kCpu].now, held + Bytes{1024 * sizeof(ConditioningEntry)});
        ledger->set_limit(kCpu, ledger->snapshot()[kCpu].now);
        EXPECT_THROW(combine(list, list), Failure);
    }
    trim_host_memory();
    EXPECT_EQ(ledger->snapshot()[kCpu].now, held);
}

TEST(Conditioning, AveragesEmbeddingsAndPooledVectors) {
    const auto mixed =
        average(with_pooled(text_of(1.0), 4.0), with_pooled(text_of(3.0), 8.0), 0.25);
    ASSERT_EQ(mixed.size(), 1U);
    EXPECT_EQ(distance(mixed[0].embedding, constant({1, 4, 8}, 2.5)), 0.0);
    EXPECT_EQ(distance(mixed[0].pooled, constant({1, 8}, 7.0)), 0.0);
}

TEST(Conditioning, AveragesWithThePooledVectorOfTheOtherWhereThereIsNone) {
    EXPECT_EQ(distance(average(text_of(1.0), with_pooled(text_of(3.0), 8.0), 0.25)[0].pooled,
                       constant({1, 8}, 8.0)),
              0.0);
    EXPECT_EQ(distance(average(with_pooled(text_of(1.0), 4.0), text_of(3.0), 0.25)[0].pooled,
                       constant({1, 8}, 4.0)),
              0.0);
}

TEST(Conditioning, AveragesTextsOfDifferentLengthAtTheLengthOfTheFirst) {
    const auto padded = average(text_of(1.0, 6), text_of(3.0, 4), 0.5)[0].embedding;
    EXPECT_EQ(distance(padded.narrow(1, 0, 4), constant({1, 4, 8}, 2.0)), 0.0);
    EXPECT_EQ(distance(padded.narrow(1, 4, 2), constant({1, 2, 8}, 0.5)), 0.0);
    const auto cut = average(text_of(1.0, 4), text_of(3.0, 6), 0.5)[0].embedding;
    EXPECT_EQ(distance(cut, constant({1, 4, 8}, 2.0)), 0.0);
}

TEST(Conditioning, ConcatenatesTokens) {
    const auto longer = concat(combine(text_of(1.0), text_of(2.0)), text_of(3.0, 2));
    ASSERT_EQ(longer.size(), 2U);
    EXPECT_EQ(longer[1].embedding.size(1), 6);
    EXPECT_EQ(distance(longer[1].embedding.narrow(1, 4, 2), constant({1, 2, 8}, 3.0)), 0.0);
}

TEST(Conditioning, RefusesToMixWhatDoesNotFit) {
    ConditioningEntry wide;
    wide.embedding = constant({1, 4, 16}, 1.0);
    EXPECT_EQ(code_of([&] { average(text_of(1.0), {wide}, 0.5); }), Code::bad_value);
    EXPECT_EQ(code_of([&] { concat(text_of(1.0), {wide}); }), Code::bad_value);
    EXPECT_EQ(code_of([&] { average(text_of(1.0), {}, 0.5); }), Code::bad_value);
    EXPECT_EQ(code_of([&] { concat(text_of(1.0), {}); }), Code::bad_value);
}

TEST(Conditioning, StoresAreasInCells) {
    const auto placed =
        set_area(text_of(1.0), {.width = 71, .height = 64, .x = 15, .y = 8}, 0.5)[0];
    EXPECT_EQ(placed.area, (Area{.height = 8, .width = 8, .y = 1, .x = 1}));
    EXPECT_EQ(placed.strength, 0.5);
}

TEST(Conditioning, StacksMasks) {
    const auto masked = set_mask(text_of(1.0), constant({16, 24}, 1.0), 0.5)[0];
    EXPECT_EQ(masked.mask.sizes().vec(), (std::vector<std::int64_t>{1, 16, 24}));
    EXPECT_EQ(masked.mask_strength, 0.5);
    EXPECT_EQ(
        set_area(set_mask(text_of(1.0), constant({16, 24}, 1.0), 0.5, MaskArea::bounds), {}, 1.0)[0]
            .mask_area,
        MaskArea::whole);
}

TEST(Conditioning, RefusesMasksThatAreNone) {
    EXPECT_EQ(code_of([] { set_mask(text_of(1.0), constant({16}, 1.0), 1.0); }), Code::bad_value);
    EXPECT_EQ(code_of([] { set_mask(text_of(1.0), constant({0, 16, 16}, 1.0), 1.0); }),
              Code::bad_value);
}

TEST(Conditioning, ZeroesTextAndPooledVector) {
    const auto original = with_pooled(text_of(1.0), 4.0);
    const auto zero = zero_out(original);
    EXPECT_EQ(distance(zero[0].embedding, constant({1, 4, 8}, 0.0)), 0.0);
    EXPECT_EQ(distance(zero[0].pooled, constant({1, 8}, 0.0)), 0.0);
    EXPECT_EQ(distance(original[0].embedding, constant({1, 4, 8}, 1.0)), 0.0);
}

TEST(Conditioning, RemembersWhenItHolds) {
    const auto timed = set_timestep_range(text_of(1.0), 0.25, 0.75)[0];
    EXPECT_EQ(timed.start_percent, 0.25);
    EXPECT_EQ(timed.end_percent, 0.75);
}

}  // namespace
}  // namespace ballast::runtime::sampling
